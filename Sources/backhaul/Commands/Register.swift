import Backhaul

struct Register: DescribedCommand {
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

    private let program: LaunchCommand

    init(_ arguments: Arguments) throws(CommandError) {
        guard let name = arguments.operands.first else {
            throw .usage("`register` needs a program: `backhaul register /usr/bin/photos`")
        }
        guard name.hasPrefix("/") else {
            let path = try name.contains("/") ? Paths.absolute(name) : "/usr/bin/\(name)"
            throw .usage("the program needs its absolute path, such as '\(path)'; PATH is not searched")
        }
        var program = LaunchCommand(program: name, arguments: Array(arguments.operands.dropFirst()))
        for text in arguments.all("environment") {
            guard let equals = text.dropFirst().firstIndex(of: "=") else {
                throw .usage("--environment takes NAME=VALUE, not '\(text)'")
            }
            program.environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        program.workingDirectory = try arguments.value("working-directory").map { path throws(CommandError) in
            try Paths.absolute(path)
        }
        let seconds: ClosedRange<Int64> = 1...604_800
        program.attachTimeout = try arguments.number("attach-timeout", in: seconds).map { .seconds($0) }
        program.firstDelay = try arguments.number("first-delay", in: seconds).map { .seconds($0) }
        program.longestDelay = try arguments.number("longest-delay", in: seconds).map { .seconds($0) }
        program.maximumLaunches = try arguments.number("maximum-launches", in: 1...1_000_000).map { Int($0) }
        self.program = program
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            try application.run(.setLaunch(program))
            context.output.note(
                "\(program.program) is started when sessions of \(context.applicationName) need it. "
                    + "`backhaul launches` shows its launches.")
            return .done
        }
    }
}

struct Unregister: DescribedCommand {
    static let description = CommandDescription(
        name: "unregister", operands: "", summary: "remove the registered program",
        examples: ["backhaul unregister --application org.example.photos"], storeUse: .lists, usesSession: false)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`unregister` takes no arguments; name the application with --application")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            try application.run(.setLaunch(nil))
            return .done
        }
    }
}
