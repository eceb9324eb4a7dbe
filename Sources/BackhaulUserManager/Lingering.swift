internal import Glibc

/// Whether the user's services run without a login, from boot on (loginctl(1), enable-linger). Without it the user
/// manager ends with the user's last session, and everything that it runs with it.
public enum Lingering: String, Sendable {
    case on, off
    /// systemd does not run this machine (sd_booted(3)): nobody ends what a user has left running.
    case absent

    public static var current: Lingering { of(userName: userName, stateDirectory: "/var/lib/systemd", runtime: "/run") }

    /// Of the user whose rights the process has.
    private static var userName: String? {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        var entry = passwd()
        // Unsafe: points into the buffer, which lives until the name is copied.
        var found: UnsafeMutablePointer<passwd>?
        return buffer.withUnsafeMutableBufferPointer { room in
            guard let start = room.baseAddress, getpwuid_r(geteuid(), &entry, start, room.count, &found) == 0,
                found != nil
            else { return nil }
            return String(cString: entry.pw_name)
        }
    }

    /// - Parameters:
    ///   - stateDirectory: Where logind keeps what outlives a reboot: `linger/USER`.
    ///   - runtime: Where systemd says that it is there: `systemd/system`.
    static func of(userName: String?, stateDirectory: String, runtime: String) -> Lingering {
        if let userName, !userName.contains("/"), access("\(stateDirectory)/linger/\(userName)", F_OK) == 0 {
            return .on
        }
        return access("\(runtime)/systemd/system", F_OK) == 0 ? .off : .absent
    }
}
