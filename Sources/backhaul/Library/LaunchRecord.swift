import CBackhaul
import CLinux
import Glibc

// Unsafe: the arrays and their C strings belong to a batch (a list that the library has returned), which is released
// after its items are copied.
private func texts(_ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) -> [String] {
    UnsafeBufferPointer(start: pointer, count: pointer == nil ? 0 : count).compactMap { text($0) }
}

/// A program that the application has registered, and the state of its launches. A launch is a start of the program by
/// the engine, which is the process that runs the transfers.
struct LaunchRecord {
    let application: String
    let program: String
    let arguments: [String]
    let environment: [String]
    let workingDirectory: String?
    let state: Int32
    let launches: UInt32
    /// The time of the next launch in Unix milliseconds, or 0. `started` has the same form.
    let next: Int64
    let processID: Int64
    let started: Int64
    let errorMessage: String?

    init(_ launch: bh_launch_info) {
        application = text(launch.application) ?? ""
        program = text(launch.program) ?? ""
        arguments = texts(launch.arguments, launch.argument_count)
        environment = texts(launch.environment, launch.environment_count)
        workingDirectory = text(launch.working_directory)
        state = launch.state
        launches = launch.launches
        next = launch.next_launch_ms
        processID = launch.process_id
        started = launch.started_ms
        errorMessage = text(launch.error_message)
    }

    var json: JSON {
        .record(of: bh_launch_info.self, [
            ("application", .string(application)), ("program", .string(program)),
            ("arguments", .strings(arguments)), ("environment", .strings(environment)),
            ("working_directory", .optional(workingDirectory)), ("state", .string(Names.launchState(state))),
            ("launches", .number(launches)), ("next_launch_ms", .number(unlessZero: next)),
            ("process_id", .number(unlessZero: processID)), ("started_ms", .number(unlessZero: started)),
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
        let failed = launches > 0 ? ", after \(Text.count(Int(launches), "launch", "launches")) without completing" : ""
        return switch Int(state) {
        case BH_LAUNCH_NONE: "nothing to do"
        case BH_LAUNCH_DUE: "due " + Text.time(until: next) + failed
        case BH_LAUNCH_RUNNING:
            "runs as process \(processID)" + (started == 0 ? "" : " since \(Text.time(since: started))")
        case BH_LAUNCH_GAVE_UP: "given up" + failed + "; start the program by hand"
        default: Names.launchState(state)
        }
    }
}

/// A program to register.
struct LaunchProgram {
    var program: String
    var arguments: [String]
    var environment: [String]
    var workingDirectory: String?
    var attachTimeout: UInt32 = 0
    var firstDelay: UInt32 = 0
    var longestDelay: UInt32 = 0
    var maximumLaunches: UInt32 = 0

    func command(_ arena: CStringArena) -> bh_launch_command {
        var command = bh_launch_command()
        command.struct_size = MemoryLayout<bh_launch_command>.size
        command.program = arena.string(program)
        command.arguments = arena.array(arguments.map { Optional(arena.string($0)) })
        command.argument_count = arguments.count
        command.environment = arena.array(environment.map { Optional(arena.string($0)) })
        command.environment_count = environment.count
        command.working_directory = arena.optionalString(workingDirectory)
        command.attach_timeout_ms = attachTimeout
        command.first_delay_ms = firstDelay
        command.longest_delay_ms = longestDelay
        command.maximum_launches = maximumLaunches
        return command
    }
}
