internal import BackhaulModel
internal import BackhaulPlatform

/// The environment of a launched host, which is a program that the engine starts because a session needs it. From the
/// engine's environment, the host gets only the variables about the user, such as the user's name, directories and
/// locale. It also gets the variables of the launch command, the paths of the store and its daemon, and the launch
/// token, by which the engine recognises the host. The rest of the engine's environment may be secret and is not passed
/// on.
enum LaunchEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
    ]
    private static let defaultPath = "/usr/local/bin:/usr/bin:/bin"

    /// Returns the variables by name.
    static func make(
        of entries: [String], additions: [String], application: String, token: LaunchToken, store: String,
        daemon: String?, home: String?
    ) -> [String: String] {
        var variables = ["PATH": defaultPath]
        variables["HOME"] = home
        for (name, value) in entries.compactMap(Environment.split) where isPassed(name) { variables[name] = value }
        variables["BACKHAUL_STORE"] = store
        variables["BACKHAUL_DAEMON"] = daemon
        for (name, value) in additions.compactMap(Environment.split) { variables[name] = value }
        variables["BACKHAUL_APPLICATION"] = application
        variables[LaunchToken.variable] = token.text
        return variables
    }

    private static func isPassed(_ name: String) -> Bool {
        names.contains(name) || name.hasPrefix("LC_") || name.hasPrefix("XDG_")
    }
}
