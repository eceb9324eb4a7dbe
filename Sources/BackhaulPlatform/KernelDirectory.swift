internal import Glibc

/// The directories in which only the kernel makes files.
public enum KernelDirectory {
    /// Returns /proc or /sys if the directory is in one of them, but nil for a link in /proc to another directory.
    public static func above(_ directory: String) -> String? {
        guard found(directory) != nil, let resolved = realpath(directory, nil) else { return nil }
        defer { free(resolved) }
        return found(String(cString: resolved))
    }

    private static func found(_ path: String) -> String? {
        ["/proc", "/sys"].first { path == $0 || path.hasPrefix($0 + "/") }
    }
}
