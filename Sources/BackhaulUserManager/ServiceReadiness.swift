internal import BackhaulPlatform

/// Says to the service manager that this process serves now (`Type=notify`, systemd.service(5)).
///
/// The protocol of sd_notify(3) by hand: it is one datagram, and libsystemd need not be loaded for it.
public enum ServiceReadiness {
    /// A manager that takes nothing for so long finds out by its own time-out.
    private static let waitMilliseconds: Int32 = 2_000

    /// Does nothing where no manager waits for it.
    public static func announce() { announce(to: Environment.variable("NOTIFY_SOCKET")) }

    /// - Returns: false when no manager was reached.
    @discardableResult
    static func announce(to socketPath: String?) -> Bool {
        guard let socketPath else { return false }
        return UnixDatagrams.connect(path: socketPath)?
            .send(Array("READY=1".utf8), waitingMilliseconds: waitMilliseconds) ?? false
    }
}
