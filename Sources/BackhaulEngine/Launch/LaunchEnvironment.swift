internal import BackhaulModel
internal import BackhaulPlatform

/// The environment of a launched host. It has the engine's variables for the user and the user's directories, and the
/// variables of the launch command. It also has the paths of the store and its daemon, and the launch token. The rest
/// of the engine's environment may be secret and is not passed on.
enum LaunchEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
    ]
    private static let usualPath = "/usr/local/bin:/usr/bin:/bin"

    /// Returns the variables by name.
    static func make(
        of entries: [String], additions: [String], application: String, token: LaunchToken, store: String,
        daemon: String?, home: String?
    ) -> [String: String] {
        var variables = ["PATH": usualPath]
        variables["HOME"] = home
        for (name, value) in entries.compactMap(Environment.split) where passes(name) { variables[name] = value }
        variables["BACKHAUL_STORE"] = store
        variables["BACKHAUL_DAEMON"] = daemon
        for (name, value) in additions.compactMap(Environment.split) { variables[name] = value }
        variables["BACKHAUL_APPLICATION"] = application
        variables[LaunchToken.variable] = token.text
        return variables
    }

    private static func passes(_ name: String) -> Bool {
        names.contains(name) || name.hasPrefix("LC_") || name.hasPrefix("XDG_")
    }
}
