internal import CBackhaul

/// The verbs of an application.
extension Verb where Owner == Application, Value == Void {
    package static func setLimits(_ limits: Limits) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array([try limits.value()])
        return Verb(arena) { bh_store_set_limits($0, value, BH_START, $1) }
    }

    package static func setNetwork(_ network: Network) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array([try network.value(arena)])
        return Verb(arena) { bh_store_set_network($0, value, BH_START, $1) }
    }

    package static func setLaunch(_ command: LaunchCommand?) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array(try command.map { (command) throws(BackhaulError) in [try command.value(arena)] } ?? [])
        return Verb(arena) { bh_application_set_launch($0, value, BH_START, $1) }
    }
}

extension Verb where Owner == Application, Value == [SessionInfo] {
    package static var sessions: Verb { listing(bh_application_sessions) { $0.sessions() } }
}

extension Verb where Owner == Application, Value == EngineInfo? {
    package static var engine: Verb { listing(bh_store_engine) { $0.engine() } }
}

extension Verb where Owner == Application, Value == [ApplicationInfo] {
    package static var applications: Verb { listing(bh_store_applications) { $0.applications() } }
}

extension Verb where Owner == Application, Value == Limits? {
    package static var limits: Verb { listing(bh_store_limits) { $0.limits() } }
}

extension Verb where Owner == Application, Value == String? {
    package static var metrics: Verb { listing(bh_store_metrics) { $0.metrics() } }
}

extension Verb where Owner == Application, Value == [LaunchInfo] {
    package static var launches: Verb { listing(bh_store_launches) { $0.launches() } }
}

extension Verb where Owner == Application, Value == Launch? {
    package static var currentLaunch: Verb { listing(bh_application_current_launch) { $0.launch() } }
}

extension Verb where Owner == Application, Value == [Condition] {
    package static var conditions: Verb { listing(bh_store_conditions) { $0.conditions() } }
}

extension Verb where Owner == Application, Value == [Hold] {
    package static var holds: Verb { listing(bh_store_holds) { $0.holds() } }
}

extension Verb where Owner == Application, Value == [Network] {
    package static var networks: Verb { listing(bh_store_networks) { $0.networks() } }
}

/// The handle of a session, and whether the verb has created the session.
extension Verb where Owner == Application, Value == (Handle, isNew: Bool) {
    static func createSession(_ configuration: SessionConfiguration, _ role: Role) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let value = arena.array([try configuration.value(arena)])
        return session(arena, role) { bh_session_create($0, value, role.rawValue, BH_START, nil, nil, $1) }
    }

    static func attachSession(_ identifier: String, _ role: Role) throws(BackhaulError) -> Verb {
        let arena = Arena()
        let name = try arena.string(identifier, "the session's identifier")
        return session(arena, role) { bh_session_attach($0, name, role.rawValue, BH_START, nil, $1) }
    }

    private static func session(_ arena: Arena, _ role: Role, _ start: @escaping Start) -> Verb {
        Verb(arena, isUnlimited: role == .consumeWhenFree, start) { outcome throws(BackhaulError) in
            try outcome.session()
        }
    }
}
