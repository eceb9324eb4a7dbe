internal import CBackhaul

/// A program that the engine runs when sessions need their host and none is connected. No shell is involved. Nil stands
/// for the default.
public struct LaunchCommand: Hashable, Sendable {
    /// Absolute path of an executable file.
    public var program: String
    /// Those after the program's name.
    public var arguments: [String]
    /// Additions. docs/launch.md has the rest of it.
    public var environment: [String: String]
    /// Absolute path; nil: the user's home directory.
    public var workingDirectory: String?
    /// Default 60 seconds: a launched host that has attached no session by then gets SIGTERM, and SIGKILL ten seconds
    /// later; then it is launched again.
    public var attachTimeout: Duration?
    /// Default 60 seconds: delay after a launch that ended without completing; it doubles with each such launch.
    public var firstDelay: Duration?
    /// Default an hour.
    public var longestDelay: Duration?
    /// Default 8: after so many in a row without completing, launches end until a host of the application connects by
    /// itself. Events stay.
    public var maximumLaunches: Int?

    public init(
        program: String, arguments: [String] = [], environment: [String: String] = [:],
        workingDirectory: String? = nil
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_launch_command {
        var value = bh_launch_command()
        value.struct_size = MemoryLayout<bh_launch_command>.size
        value.program = try arena.string(program, "the launch command's program")
        value.arguments = try arena.strings(arguments, "an argument of the launch command")
        value.argument_count = arguments.count
        if environment.keys.contains(where: { $0.contains("=") }) {
            throw BackhaulError(
                BH_INVALID_ARGUMENT, message: "A variable's name in the launch command's environment holds a '='.")
        }
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        value.environment = try arena.strings(variables, "the launch command's environment")
        value.environment_count = variables.count
        value.working_directory = try arena.optionalString(workingDirectory, "the launch command's directory")
        value.attach_timeout_ms = try positive(attachTimeout, "attachTimeout")
        value.first_delay_ms = try positive(firstDelay, "firstDelay")
        value.longest_delay_ms = try positive(longestDelay, "longestDelay")
        value.maximum_launches = try positive(maximumLaunches, "maximumLaunches")
        return value
    }
}

/// State of an application's launch.
public enum LaunchState: Int32, Hashable, Sendable {
    /// No command is registered, or no session needs its host.
    case none = 0
    /// At `nextLaunchMilliseconds`, unless a host connects before.
    case due = 1
    /// A launched host lives and has not completed.
    case running = 2
    /// Too many launches without completing: until a host connects by itself.
    case gaveUp = 3
}

/// A registered launch command and its state.
public struct LaunchInfo: Hashable, Sendable {
    public let application: String
    public let program: String
    public let arguments: [String]
    public let environment: [String: String]
    public let workingDirectory: String?
    /// `.none` also for a state that only a newer library has.
    public let state: LaunchState
    /// In a row without completing.
    public let launches: Int
    /// Unix time in milliseconds.
    public let nextLaunchMilliseconds: Int64?
    /// Of the launched host.
    public let processID: Int64?
    /// Unix time in milliseconds.
    public let startedMilliseconds: Int64?
    /// Why the last launch failed.
    public let errorMessage: String?

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ info: bh_launch_info) {
        application = text(info.application) ?? ""
        program = text(info.program) ?? ""
        arguments = texts(info.arguments, info.argument_count)
        environment = Dictionary(
            texts(info.environment, info.environment_count).map { variable in
                let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : "")
            }, uniquingKeysWith: { _, last in last })
        workingDirectory = text(info.working_directory)
        state = LaunchState(rawValue: info.state) ?? .none
        launches = Int(info.launches)
        nextLaunchMilliseconds = info.next_launch_ms == 0 ? nil : info.next_launch_ms
        processID = info.process_id == 0 ? nil : info.process_id
        startedMilliseconds = info.started_ms == 0 ? nil : info.started_ms
        errorMessage = text(info.error_message)
    }
}

/// A launch, for the host that it started.
public struct Launch: Hashable, Sendable, Identifiable {
    /// Grows with each launch of the store.
    public let id: UInt64
    /// In a row, this one included: 1 unless earlier ones did not complete.
    public let launches: Int
    /// One of the sessions has finished a round.
    public let hasFinished: Bool
    /// One of the sessions has an open challenge.
    public let hasChallenge: Bool
    /// An activity of one of the sessions is due.
    public let hasActivity: Bool
    /// Those that need their host and are not completed.
    public let sessions: [SessionInfo]

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ launch: bh_launch) {
        id = launch.id
        launches = Int(launch.launches)
        hasFinished = Int(launch.attention) & BH_ATTENTION_FINISHED != 0
        hasChallenge = Int(launch.attention) & BH_ATTENTION_CHALLENGE != 0
        hasActivity = Int(launch.attention) & BH_ATTENTION_ACTIVITY != 0
        sessions = UnsafeBufferPointer(
            start: launch.sessions, count: launch.sessions == nil ? 0 : launch.session_count
        ).compactMap { $0.map { SessionInfo($0.pointee) } }
    }
}
