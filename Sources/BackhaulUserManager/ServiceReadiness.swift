internal import BackhaulPlatform

/// Notifies the service manager that this process is ready (`Type=notify`, systemd.service(5)).
///
/// This is the protocol of sd_notify(3). The protocol needs only one datagram, so libsystemd is not used.
public enum ServiceReadiness {
    /// How long to wait for the manager, in milliseconds. After that, the manager's own start time-out reports the
    /// problem.
    private static let waitMilliseconds: Int32 = 2_000

    /// If a manager waits for this process, notifies it.
    public static func notifyReady() { notifyReady(to: Environment.variable("NOTIFY_SOCKET")) }

    /// - Returns: false if no manager was reached.
    @discardableResult
    static func notifyReady(to socketPath: String?) -> Bool {
        guard let socketPath else { return false }
        return UnixDatagramSocket.connect(path: socketPath)?
            .send(Array("READY=1".utf8), waitingMilliseconds: waitMilliseconds) ?? false
    }
}
