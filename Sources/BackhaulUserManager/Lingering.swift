internal import Glibc

/// Whether the user's services run without a login, from boot on (loginctl(1), enable-linger). Without lingering, the
/// user manager and all its services end with the user's last login session.
public enum Lingering: String, Sendable {
    case on, off
    /// This machine was not booted with systemd (sd_booted(3)), so a user's programs are not ended at logout.
    case absent

    public static var current: Lingering {
        of(userName: userName, stateDirectory: "/var/lib/systemd", runtimeDirectory: "/run")
    }

    /// The name of the process's effective user.
    private static var userName: String? {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        var entry = passwd()
        // Unsafe: the texts of `entry` are in the buffer, which lives until the name is copied. `found` is only
        // compared with nil.
        var found: UnsafeMutablePointer<passwd>?
        return buffer.withUnsafeMutableBufferPointer { room in
            guard let start = room.baseAddress, getpwuid_r(geteuid(), &entry, start, room.count, &found) == 0,
                found != nil
            else { return nil }
            return String(cString: entry.pw_name)
        }
    }

    /// - stateDirectory: the directory in which logind keeps files that survive a reboot, such as `linger/USER`.
    /// - runtimeDirectory: the directory in which `systemd/system` exists while systemd is running.
    static func of(userName: String?, stateDirectory: String, runtimeDirectory: String) -> Lingering {
        if let userName, !userName.contains("/"), access("\(stateDirectory)/linger/\(userName)", F_OK) == 0 {
            return .on
        }
        return access("\(runtimeDirectory)/systemd/system", F_OK) == 0 ? .off : .absent
    }
}
