/// Checks of the launch command that an application registers. The command names a program. The engine starts this
/// program when a session needs the program.
public enum LaunchCheck {
    public static func check(_ command: LaunchCommand) throws(Failure) {
        try FieldCheck.path(command.program, "launch.program")
        if let directory = command.workingDirectory { try FieldCheck.path(directory, "launch.working_directory") }
        try checkCount(command.arguments.count, "launch.argument_count")
        try checkCount(command.environment.count, "launch.environment_count")
        for addition in command.environment { try checkAddition(addition) }
        let texts = command.arguments + command.environment
        let size = texts.reduce(0) { $0 + $1.utf8.count + 1 }
        guard size <= Limits.launchTextSize else {
            throw invalid(
                "the launch's arguments and environment have \(size) bytes together; "
                    + "at most \(Limits.launchTextSize) are allowed")
        }
        guard texts.allSatisfy({ !$0.utf8.contains(0) }) else { throw invalid("a text of the launch has a NUL byte") }
        let day: ClosedRange<UInt32> = 1...86_400_000
        try FieldCheck.range(command.attachTimeoutMilliseconds, day, "launch.attach_timeout_ms")
        try FieldCheck.range(command.firstDelayMilliseconds, day, "launch.first_delay_ms")
        try FieldCheck.range(command.longestDelayMilliseconds, day, "launch.longest_delay_ms")
        try FieldCheck.range(command.maximumLaunches, 1...UInt32.max, "launch.maximum_launches")
        guard command.firstDelayMilliseconds <= command.longestDelayMilliseconds else {
            throw invalid("launch.first_delay_ms is larger than launch.longest_delay_ms")
        }
    }

    private static func checkAddition(_ addition: String) throws(Failure) {
        let name = addition.utf8.prefix { $0 != UInt8(ascii: "=") }
        guard !name.isEmpty, name.count < addition.utf8.count else {
            throw invalid("an addition to the launch's environment has not the form NAME=value")
        }
        guard !name.elementsEqual(LaunchToken.variable.utf8) else {
            throw invalid("\(LaunchToken.variable) in the launch's environment is set by the engine; leave it out")
        }
    }

    private static func checkCount(_ count: Int, _ name: String) throws(Failure) {
        guard count <= Limits.launchTextCount else {
            throw invalid("\(name) is \(count); at most \(Limits.launchTextCount) are allowed")
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
