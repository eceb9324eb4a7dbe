internal import BackhaulModel

/// The configuration of a session of a fleet.
enum FleetConfiguration {
    /// Throws if a fleet does not accept the configuration. A worker checks it again, because a host can store a
    /// configuration without this library.
    static func check(_ configuration: SessionConfiguration) throws(FleetError) {
        try FleetError.wrapping(try SessionCheck.check(configuration))
        if configuration.proxy.password != nil {
            throw FleetError(
                .invalidArgument, "a fleet stores no password of a proxy; let the workers use a proxy without one")
        }
        if configuration.tls.clientCertificate != nil {
            throw FleetError(
                .invalidArgument,
                "a host cannot use client certificates of the workers; remove the certificate, or use a local store "
                    + "for this server")
        }
        if let refusal = refusal(of: configuration.policy) { throw FleetError(.invalidArgument, refusal) }
    }

    /// Why workers do not accept these options of a host, whose user and credentials are others; nil if they do.
    static func refusal(of policy: TaskPolicy) -> String? {
        if policy.s3CredentialCommand != nil {
            return "workers run no commands of hosts; remove the credential command of S3, and set up credentials of "
                + "S3 on the workers"
        }
        if policy.s3Profile != nil {
            return "a host cannot choose a profile of the workers; remove the profile of S3, and set up credentials of "
                + "S3 on the workers"
        }
        return nil
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
