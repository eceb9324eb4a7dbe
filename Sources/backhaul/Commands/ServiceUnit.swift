import BackhaulUserManager

/// The text that starts a store's daemon at boot: a unit file for the user manager, or a line for cron.
struct ServiceUnit: Equatable {
    /// The absolute path of the daemon's program. The path of the store is absolute, too.
    let program: String
    let store: String

    /// Throws if a unit file cannot contain the path of the program. systemd refuses paths with quotes, backslashes or
    /// control characters, even if these characters are escaped.
    static func check(program: String) throws(CommandError) {
        let refused = "\"'\\\u{7f}".unicodeScalars
        if program.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !refused.contains($0) }) { return }
        throw .stopped(
            .refused, "systemd cannot run a program whose path has quotes or backslashes: \(program); move it")
    }

    /// The unit file (systemd.unit(5), systemd.service(5)).
    var text: String {
        """
        # Written by `backhaul service install`; `backhaul service uninstall` removes it.
        # It resumes what waits in the store, and ends when nothing is left to do.
        [Unit]
        Description=\(ServiceUnit.plain("Backhaul, transfers of \(store)"))
        StartLimitIntervalSec=5min
        StartLimitBurst=5

        [Service]
        Type=exec
        ExecStart=\(ServiceUnit.quoted(program)) --store \(ServiceUnit.argument(store))
        Restart=on-failure
        RestartPreventExitStatus=1 2
        RestartSec=2s
        TimeoutStopSec=10s
        \(DaemonSandbox.unitLines.joined(separator: "\n"))

        [Install]
        WantedBy=default.target

        """
    }

    /// The line for `crontab -e` on a machine without a user manager (crontab(5)).
    var crontabLine: String {
        let command = "@reboot " + ServiceUnit.shellQuoted(program) + " --store " + ServiceUnit.shellQuoted(store)
        // cron replaces a percent sign by a newline, even inside quotes. A backslash before the sign prevents this.
        return command.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "\\%")
    }

    /// An argument of ExecStart=, quoted, with `$` escaped.
    static func argument(_ word: String) -> String {
        quoted(word).split(separator: "$", omittingEmptySubsequences: false).joined(separator: "$$")
    }

    /// A word in quotes (systemd.syntax(7), "Quoting") with `%` doubled (systemd.unit(5), "Specifiers").
    static func quoted(_ word: String) -> String {
        var result = "\""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "%": result += "%%"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                result += "\\x" + Text.hexadecimal(scalar.value, digits: 2)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    static func plain(_ text: String) -> String {
        Text.visible(text).split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
    }

    private static func shellQuoted(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
