import CBackhaul

struct Register: Command {
    static let description = CommandDescription(
        name: "register", operands: "[--] PROGRAM [ARGUMENT...]",
        summary: "register the program to start when its sessions need it",
        examples: [
            "backhaul register --application org.example.photos /usr/bin/photos --ready",
            "backhaul launches",
        ],
        options: [
            OptionDescription("environment", "e", "NAME=VALUE", "add this to its environment; may be repeated"),
            OptionDescription("working-directory", nil, "DIRECTORY", "the directory in which it starts (your home)"),
            OptionDescription(
                "attach-timeout", nil, "SECONDS", "end a program that has attached no session after this time (60)"),
            OptionDescription(
                "first-delay", nil, "SECONDS", "delay after a launch that ended without completing; it doubles (60)"),
            OptionDescription("longest-delay", nil, "SECONDS", "the longest such delay (3600)"),
            OptionDescription(
                "maximum-launches", nil, "NUMBER", "failed launches in a row after which Backhaul gives up (8)"),
        ],
        details: """
            Backhaul starts the program if no program of the application is connected, and one of its sessions has
            finished its transfers or waits for a credential. It uses no shell. The program reads the events and
            completes the session, as `backhaul wait` does, or with `events`, `events --acknowledge-through` and
            `complete`. The new registration replaces an earlier one. Options must come before the program.
            """,
        storeUse: .makes, usesSession: false, takesProgram: true)

    private let program: LaunchProgram

    init(_ arguments: Arguments) throws(CommandError) {
        guard let name = arguments.operands.first else {
            throw .usage("`register` needs a program: `backhaul register /usr/bin/photos`.")
        }
        guard name.hasPrefix("/") else {
            throw .usage("The program needs its absolute path, such as '/usr/bin/\(name)'; PATH is not searched.")
        }
        var program = LaunchProgram(
            program: name, arguments: Array(arguments.operands.dropFirst()), environment: arguments.all("environment"))
        for text in program.environment where !text.dropFirst().contains("=") {
            throw .usage("--environment takes NAME=VALUE, not '\(text)'.")
        }
        program.workingDirectory = try arguments.value("working-directory").map { path throws(CommandError) in
            try Paths.absolute(path)
        }
        program.attachTimeout = try Register.milliseconds("attach-timeout", arguments)
        program.firstDelay = try Register.milliseconds("first-delay", arguments)
        program.longestDelay = try Register.milliseconds("longest-delay", arguments)
        program.maximumLaunches = UInt32(try arguments.number("maximum-launches", in: 1...1_000_000) ?? 0)
        self.program = program
    }

    private static func milliseconds(_ name: String, _ arguments: Arguments) throws(CommandError) -> UInt32 {
        UInt32(try arguments.number(name, in: 1...604_800) ?? 0) * 1000
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            try application.register(program)
            context.output.note(
                "\(program.program) is started when sessions of \(context.applicationName) need it. "
                    + "`backhaul launches` shows its launches.")
            return .done
        }
    }
}

struct Unregister: Command {
    static let description = CommandDescription(
        name: "unregister", operands: "", summary: "remove the registered program",
        examples: ["backhaul unregister --application org.example.photos"], storeUse: .lists, usesSession: false)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`unregister` takes no arguments; name the application with --application.")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            try application.register(nil)
            return .done
        }
    }
}
