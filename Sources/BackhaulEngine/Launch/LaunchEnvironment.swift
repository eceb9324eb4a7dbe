internal import BackhaulModel
internal import BackhaulPlatform

/// The environment of a launched host: the user and the user's directories, as this engine has them; how to find this
/// store and its daemon; which launch it is; and what the launch command adds. The rest of the engine's environment may
/// be secret and is not passed on.
enum LaunchEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
    ]
    private static let usualPath = "/usr/local/bin:/usr/bin:/bin"

    /// By name.
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
