internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the struct, and all data that it points to, can be read until the call returns. All
// of it is copied here.

/// Reads `bh_launch_command`. Fields that are not set get their defaults.
enum LaunchArgument {
    private static let minimumSize = StructArgument.end(of: \bh_launch_command.maximum_launches)

    static func read(_ pointer: UnsafePointer<bh_launch_command>) throws(Failure) -> LaunchCommand {
        let given = try StructArgument.read(pointer, "launch", into: bh_launch_command(), minimumSize: minimumSize)
        var command = LaunchCommand(
            program: try TextArgument.required(given.program, "launch.program", limit: Limits.pathSize))
        command.arguments = try texts(
            given.arguments, "launch.arguments", count: given.argument_count, "launch.argument_count")
        command.environment = try texts(
            given.environment, "launch.environment", count: given.environment_count, "launch.environment_count")
        command.workingDirectory = try TextArgument.optional(
            given.working_directory, "launch.working_directory", limit: Limits.pathSize)
        if given.attach_timeout_ms > 0 { command.attachTimeoutMilliseconds = given.attach_timeout_ms }
        if given.first_delay_ms > 0 { command.firstDelayMilliseconds = given.first_delay_ms }
        if given.longest_delay_ms > 0 {
            command.longestDelayMilliseconds = given.longest_delay_ms
        } else {
            command.longestDelayMilliseconds = max(command.longestDelayMilliseconds, command.firstDelayMilliseconds)
        }
        if given.maximum_launches > 0 { command.maximumLaunches = given.maximum_launches }
        try LaunchCheck.check(command)
        return command
    }

    private static func texts(
        _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ name: String, count: Int, _ countName: String
    ) throws(Failure) -> [String] {
        let array = try NumberArgument.array(
            pointer, name, count: count, countName, limit: Limits.launchTextCount)
        var texts: [String] = []
        for (index, text) in array.enumerated() {
            let name = "\(name)[\(index)]"
            texts.append(
                try TextArgument.bounded(
                    NumberArgument.required(text, name), name, limit: Limits.launchTextSize))
        }
        return texts
    }
}
