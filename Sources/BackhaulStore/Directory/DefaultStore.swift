public import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The default store: the directory with all durable data of the programs of a user. A program can choose another
/// store.
public enum DefaultStore {
    /// Returns the path of the store: `$BACKHAUL_STORE`, or else `backhaul` in `$XDG_STATE_HOME` or in `~/.local/state`
    /// (XDG Base Directory Specification). If parent directories of the last two paths are missing, makes them with
    /// mode 0700.
    ///
    /// Throws storeUnavailable if `$BACKHAUL_STORE` is a relative path, if none of the other paths is absolute, or if a
    /// parent directory cannot be made.
    public static func path() throws(Failure) -> String {
        if let chosen = Environment.variable("BACKHAUL_STORE"), !chosen.isEmpty {
            if chosen.utf8.first == UInt8(ascii: "/") { return chosen }
            throw Failure(
                .storeUnavailable, "BACKHAUL_STORE is the relative path \(chosen); give an absolute path")
        }
        let state: String
        if let directory = variable("XDG_STATE_HOME") {
            state = directory
        } else if let home = Environment.home {
            state = home + "/.local/state"
        } else {
            throw Failure(
                .storeUnavailable,
                "this user has no home directory, and neither BACKHAUL_STORE nor XDG_STATE_HOME is an absolute path; "
                    + "set one of them, or options.store")
        }
        try makeDirectories(state)
        return state + "/backhaul"
    }

    /// Returns the variable's value, or nil if it is not an absolute path: the specification demands that relative
    /// paths are ignored.
    private static func variable(_ name: String) -> String? {
        Environment.variable(name).flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
    }

    private static func makeDirectories(_ path: String) throws(Failure) {
        var made = ""
        for name in path.split(separator: "/") {
            made += "/" + name
            guard mkdir(made, 0o700) != 0 else { continue }
            let code = bhl_errno()
            var status = stat()
            // For an existing directory whose parent is not writable, mkdir may report another error than EEXIST.
            guard stat(made, &status) != 0 else { continue }
            throw Failure.system(
                .storeUnavailable, code: code,
                "the directory \(made) of the default store cannot be made: \(SystemError.reason(of: code)); "
                    + "set options.store")
        }
    }
}
