import Backhaul
import CLinux
import Glibc

extension LaunchInfo {
    /// The names of the variables that are added to the environment of the program. A value may be a secret.
    var variables: [String] { environment.keys.sorted() }

    var json: JSON {
        .record(
            "bh_launch_info",
            [
                ("application", .string(application)), ("program", .string(program)),
                ("arguments", .strings(arguments)), ("environment", .strings(variables)),
                ("working_directory", .optional(workingDirectory)), ("state", .word(state)),
                ("launches", .number(launches)), ("next_launch_ms", .number(nextLaunchMilliseconds)),
                ("process_id", .number(processID)), ("started_ms", .number(startedMilliseconds)),
                ("error_message", .optional(errorMessage)),
            ])
    }

    /// The reason why the program cannot be started. Nil if this process finds no reason.
    var programFault: String? {
        var status = stat()
        guard stat(program, &status) == 0 else { return reasonOfLastError() }
        if status.st_mode & S_IFMT != S_IFREG { return "it is not a regular file" }
        return access(program, X_OK) == 0 ? nil : "it is not executable"
    }

    /// The state in words, such as "due in 40 s, after 2 launches without completing".
    var stateSentence: String {
        let failed = launches > 0 ? ", after \(Text.count(launches, "launch", "launches")) without completing" : ""
        return switch state {
        case .notNeeded: "nothing to do"
        case .due: "due " + Text.time(until: nextLaunchMilliseconds ?? 0) + failed
        case .running:
            (processID.map { "runs as process \($0)" } ?? "starts, or has exited at once,")
                + (startedMilliseconds.map { " since \(Text.time(since: $0))" } ?? "")
        case .gaveUp: "given up" + failed + "; start the program by hand"
        }
    }
}
