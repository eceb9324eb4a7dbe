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

    /// The configuration of the session in the local engine of a worker.
    static func local(_ stored: SessionConfiguration, of session: SessionID) -> SessionConfiguration {
        var local = stored
        local.identifier = "fleet-\(session.rawValue)"
        local.sendsLaunchEvents = false
        local.historyLimit = nil
        // The fleet passes no challenges to its host.
        local.asksForCredentials = false
        // The permits of the fleet limit the connections.
        local.connectionsPerOrigin = UInt32(Limits.connectionsPerOrigin)
        return local
    }
}
