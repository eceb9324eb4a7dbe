internal import CLinux

/// The process's environment, as far as it may be trusted: programs with more rights than their caller see nothing of
/// it (secure_getenv(3)).
public enum Environment {
    public static func variable(_ name: String) -> String? {
        // Unsafe: copied at once, because the host may change its environment later.
        bhl_secure_getenv(name).map { String(cString: $0) }
    }
}
