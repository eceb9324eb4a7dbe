internal import CBackhaul

/// The identity under which a program acts, open on a store. Sessions keep it open; it is closed by `close`, or with
/// its last reference.
///
/// All methods may be called from any Swift task. None of them blocks the thread that it is called on.
public final class Application: Sendable {
    /// Such as "org.example.photos".
    public let identifier: String
    /// The store's path, as it was given; nil: the user's default store (`engine` tells its path).
    public let store: String?
    /// Sessions that begin to need attention: events wait in them. For one reader; the last 256 are kept for it.
    public let attention: AsyncStream<SessionInfo>
    let driver: Driver

    private init(_ identifier: String, _ store: String?, _ driver: Driver, _ attention: AsyncStream<SessionInfo>) {
        self.identifier = identifier
        self.store = store
        self.driver = driver
        self.attention = attention
    }

    deinit { driver.stop() }

    /// Opens the application and waits until an engine answers: one that runs, the daemon, or one in this process.
    ///
    /// - Parameters:
    ///   - identifier: 1 to 255 bytes of letters, digits, '.', '-' and '_', starting with a letter or digit.
    ///   - store: Absolute path; made with mode 0700 if its parent exists. On a local file system. Nil: the user's
    ///     default store, which all programs of the user share, so that limits hold across them: $BACKHAUL_STORE,
    ///     else $XDG_STATE_HOME/backhaul, else ~/.local/state/backhaul.
    ///   - hosting: Where the engine runs when there is none; nil: `.daemon`.
    ///   - daemon: Absolute path of backhauld; nil: looked for at $BACKHAUL_DAEMON, beside the library, in
    ///     libexec/backhaul beside the library's directory, then below /usr/local and /usr.
    ///   - launch: Registered as by `setLaunch`; nil leaves what is registered.
    ///   - observes: This is a tool that looks on and is no host: the application is launched as if it were not there.
    ///   - timeout: How long to wait for an engine, at most a day. The limit of each later verb, too, which is at least
    ///     a second.
    /// - Throws: `BackhaulError` with `.invalidArgument`, `.timeout`, `.outOfResources`, `.daemonUnavailable`, or one
    ///   of the store's or the engine's statuses.
    public static func open(
        _ identifier: String, store: String? = nil, hosting: Hosting? = nil, daemon: String? = nil,
        launch: LaunchCommand? = nil, observes: Bool = false, timeout: Duration = .seconds(30)
    ) async throws -> Application {
        let (attention, continuation) = AsyncStream<SessionInfo>.makeStream(bufferingPolicy: .bufferingNewest(256))
        let milliseconds = min(max(0, timeout.wholeMilliseconds), Int64(BH_WAIT_MAXIMUM))
        var options = ApplicationOptions(identifier: identifier)
        options.store = store
        options.hosting = hosting
        options.daemon = daemon
        options.launch = launch
        options.observes = observes
        let driver = try await Driver.open(options, timeout: Int32(milliseconds), attention: continuation)
        return Application(identifier, store, driver, attention)
    }

    /// Closes the application and all of its sessions' handles; their tasks go on. Returns when the library's threads
    /// have ended, if this was the process's last. Harmless when repeated.
    public func close() async { await driver.stopAndWait() }

    /// Creates the session, or attaches to it when it exists (`Session.isNew` tells); then its remembered configuration
    /// stays.
    public func createSession(
        _ configuration: SessionConfiguration, role: Role = .consume
    ) async throws -> Session {
        let arena = Arena()
        var value = try configuration.value(arena)
        return try await session(configuration.identifier, role) { application, ticket, error in
            bh_session_create_start(application, &value, role.rawValue, ticket, error)
        }
    }

    /// Attaches to a session by its identifier.
    ///
    /// - Throws: `BackhaulError` with `.notFound`, `.invalidated`, or `.inUse` when another living handle consumes it
    ///   (`detail` is its process id).
    public func attachSession(_ identifier: String, role: Role = .consume) async throws -> Session {
        let arena = Arena()
        let name = try arena.string(identifier, "the session's identifier")
        return try await session(identifier, role) { application, ticket, error in
            bh_session_attach_start(application, name, role.rawValue, ticket, error)
        }
    }

    /// All sessions of this application.
    public func sessions() async throws -> [SessionInfo] {
        try await listing(bh_application_sessions_start) { $0.sessions() }
    }

    /// Who the store's engine is.
    public func engine() async throws -> EngineInfo {
        let engine = try await listing(bh_application_engine_start) { $0.engine() }
        guard let engine else { throw BackhaulError(BH_INTERNAL) }
        return engine
    }

    /// What all sessions of the store may use together, with the defaults filled in.
    public func limits() async throws -> Limits {
        guard let limits = try await listing(bh_application_get_limits_start, { $0.limits() }) else {
            throw BackhaulError(BH_INTERNAL)
        }
        return limits
    }

    /// Sets the store's limits, durably and at once.
    public func setLimits(_ limits: Limits) async throws {
        var value = try limits.value()
        try await driver.verb { application, ticket, error in
            bh_application_set_limits_start(application, &value, ticket, error)
        } take: { answer throws(BackhaulError) in
            try answer.done()
        }
    }

    // MARK: Launches

    /// Registers the application's launch command, durably, in place of any other; nil removes it. That the program
    /// exists is found out at the launch.
    public func setLaunch(_ command: LaunchCommand?) async throws {
        let arena = Arena()
        let value = arena.array(try command.map { (command) throws(BackhaulError) in [try command.value(arena)] } ?? [])
        try await driver.verb { application, ticket, error in
            bh_application_set_launch_start(application, value, ticket, error)
        } take: { answer throws(BackhaulError) in
            try answer.done()
        }
    }

    /// The launch commands of all applications of the store.
    public func launches() async throws -> [LaunchInfo] {
        try await listing(bh_application_launches_start) { $0.launches() }
    }

    /// The launch that this process, or one that started it, was started by; nil: none, or it is over.
    public func currentLaunch() async throws -> Launch? { try await listing(bh_launch_current_start) { $0.launch() } }

    func listing<Value>(_ start: Driver.Start, _ take: (borrowing Batch) -> Value) async throws -> Value {
        try await driver.verb(start) { answer throws(BackhaulError) in
            take(try answer.batch())
        }
    }

    private func session(_ identifier: String, _ role: Role, _ start: Driver.Start) async throws -> Session {
        let isPatient = role == .consumeWhenFree
        let (handle, isNew) = try await driver.verb(isPatient: isPatient, start) { answer throws(BackhaulError) in
            try answer.session()
        }
        return try Session(self, handle, identifier: identifier, role: role, isNew: isNew)
    }
}
