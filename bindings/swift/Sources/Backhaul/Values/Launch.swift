internal import CBackhaul

/// A program that the *engine* launches for an application. A *host* is a process that embeds the library, and an
/// *application* is the identifier of hosts that belong together. The engine launches the program when a session needs
/// a host, and no host is connected. No shell is involved. A property that is nil has its default value.
public struct LaunchCommand: Hashable, Sendable {
    /// The absolute path of an executable file.
    public var program: String
    /// The arguments after the program's name.
    public var arguments: [String]
    /// Variables to add to the environment of the program. docs/launch.md lists the variables that it has in any case.
    public var environment: [String: String]
    /// The absolute path of the working directory. Nil: the user's home directory.
    public var workingDirectory: String?
    /// How long a launched host may take to attach (open) a session. Default: 60 seconds. After this time, the engine
    /// sends SIGTERM to the host, and SIGKILL ten seconds later. The launch then counts as failed, and the engine
    /// launches the host again after a delay.
    public var attachTimeout: Duration?
    /// The delay after the first failed launch. Default: 60 seconds. The delay doubles after each further failed
    /// launch.
    public var firstDelay: Duration?
    /// The longest delay between two launches. Default: an hour.
    public var longestDelay: Duration?
    /// The limit of failed launches in a row. Default: 8. At this limit, the engine stops launching hosts, and keeps
    /// the events. After a host has connected without a launch, the engine launches hosts again.
    public var maximumLaunches: Int?

    /// Makes a launch command.
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
                BH_INVALID_ARGUMENT,
                message: "a variable's name in the launch command's environment contains '='; remove it")
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

/// The state of an application's launch.
public enum LaunchState: Int32, Hashable, Sendable {
    /// No command is registered, or no session needs its host.
    case notNeeded = 0
    /// The engine launches a host at `nextLaunchMilliseconds`, unless a host connects before this time.
    case due = 1
    /// A launched host runs, and has not completed its sessions yet. To *complete* a session is to report that its
    /// events are processed.
    case running = 2
    /// Too many launches in a row have failed, so the engine has stopped launching hosts. After a host has connected
    /// without a launch, the engine launches hosts again.
    case gaveUp = 3
}

/// A registered launch command and its state.
public struct LaunchInfo: Hashable, Sendable {
    /// The identifier of the application.
    public let application: String
    /// The absolute path of the executable file.
    public let program: String
    /// The arguments after the program's name.
    public let arguments: [String]
    /// The variables that are added to the environment of the program.
    public let environment: [String: String]
    /// The absolute path of the working directory. Nil: the user's home directory.
    public let workingDirectory: String?
    /// The state of the launch. `.notNeeded` if the state is from a newer version of the library.
    public let state: LaunchState
    /// The number of launches in a row in which no session was completed.
    public let launches: Int
    /// When the next launch is due, as Unix time in milliseconds. Nil if no launch is due.
    public let nextLaunchMilliseconds: Int64?
    /// The process id of the launched host.
    public let processID: Int64?
    /// When the launched host was started, as Unix time in milliseconds.
    public let startedMilliseconds: Int64?
    /// Why the last launch failed.
    public let errorMessage: String?

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
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
        state = LaunchState(rawValue: info.state) ?? .notNeeded
        launches = Int(info.launches)
        nextLaunchMilliseconds = info.next_launch_ms == 0 ? nil : info.next_launch_ms
        processID = info.process_id == 0 ? nil : info.process_id
        startedMilliseconds = info.started_ms == 0 ? nil : info.started_ms
        errorMessage = sentence(info.error_message)
    }
}

/// A launch, as the launched program reads it.
public struct Launch: Hashable, Sendable, Identifiable {
    /// The id of the launch. Each later launch in the same store has a greater id.
    public let id: UInt64
    /// 1 for this launch, plus 1 for each launch directly before it in which no session was completed
    /// (`Session.complete`).
    public let launches: Int
    /// Whether all tasks of one of the sessions have ended.
    public let hasFinished: Bool
    /// Whether one of the sessions has an open challenge, such as a demand for a password.
    public let hasChallenge: Bool
    /// Whether an activity of one of the sessions is due.
    public let hasActivity: Bool
    /// The sessions that need a host, and are not completed yet.
    public let sessions: [SessionInfo]

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
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
