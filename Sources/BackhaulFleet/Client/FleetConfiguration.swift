internal import BackhaulModel

/// The configuration of a session of a fleet.
enum FleetConfiguration {
    static func check(_ configuration: SessionConfiguration) throws(FleetError) {
        try FleetError.wrapping(try SessionCheck.check(configuration))
        if configuration.proxy.password != nil {
            throw FleetError(
                .invalidArgument, "a fleet stores no password of a proxy; let the workers use a proxy without one")
        }
    }

    private static let prefix = "fleet-"

    /// The identifier of the session in the local engine of a worker.
    static func localIdentifier(of session: SessionID) -> String { prefix + String(session.rawValue) }

    static func session(ofLocal identifier: String) -> SessionID? {
        guard identifier.hasPrefix(prefix) else { return nil }
        return UInt64(identifier.dropFirst(prefix.count)).map { SessionID(rawValue: $0) }
    }

    /// The configuration of the session in the local engine of a worker.
    static func local(_ stored: SessionConfiguration, of session: SessionID) -> SessionConfiguration {
        var local = stored
        local.identifier = localIdentifier(of: session)
        local.sendsLaunchEvents = false
        local.historyLimit = nil
        // The fleet passes no challenges to its host.
        local.asksForCredentials = false
        // The worker claims only what may run.
        local.connectionsPerOrigin = UInt32(Limits.connectionsPerOrigin)
        local.maximumRunningTasks = UInt32(Limits.runningTasks)
        return local
    }
}
