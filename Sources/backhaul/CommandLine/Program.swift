import Backhaul
import struct BackhaulModel.ShownURL
import CLinux
import Glibc

/// Runs the command that the command line names, and returns the exit code.
enum Program {
    static func run(_ words: () throws(CommandError) -> [String]) -> Int32 {
        openClosedStreams()
        // Loads the locale's table of character widths, which the progress display needs. Messages and numbers do not
        // depend on the locale.
        setlocale(LC_CTYPE, "")
        var output = Output(isJSON: false, isQuiet: false)
        var command = "backhaul"
        do {
            let words = try words()
            if words.first == Completion.command { return Completion.run(Array(words.dropFirst())) }
            output = Output(isJSON: words.prefix { $0 != "--" }.contains("--json"), isQuiet: false)
            let before = try Arguments(
                words: words, options: OptionDescription.common + [.version], stopAtOperand: true)
            if before.has("version") { return show(Help.version) }
            guard let name = before.operands.first else {
                if before.has("help") { return try help(nil, isJSON: output.isJSON) }
                _ = Output.write(Help.program, to: STDERR_FILENO)
                return ExitCode.usage.rawValue
            }
            if name == "help" {
                let operands = before.operands.dropFirst().filter { $0 != "--json" }
                return try help(operands.first, isJSON: output.isJSON)
            }
            guard let entry = Commands.named(name) else { throw Program.noCommand(name) }
            command = "backhaul " + name
            var arguments = try Arguments(
                words: Array(before.operands.dropFirst()), options: entry.description.allOptions,
                stopAtOperand: entry.description.takesProgram)
            arguments.merge(before)
            if arguments.has("help") { return try help(name, isJSON: arguments.has("json")) }
            try ConfigurationFile.addDefaults(to: &arguments, of: entry.description)
            output = Output(isJSON: arguments.has("json"), isQuiet: arguments.has("quiet") || arguments.has("silent"))
            try OperandGrammar.checkAction(arguments.operands, of: entry.description)
            // The command reads its input files here. A signal ends the process during this time, because signals are
            // blocked only afterwards, and nothing is enqueued yet.
            let (given, context) = try arguments.namingDefaults { (arguments) throws(CommandError) in
                let given = try entry.parse(arguments)
                return (given, try Context(arguments, entry.description, output: output, signals: Signals()))
            }
            return try given.run(context).rawValue
        } catch {
            return end(error as? CommandError, command: command, output: output)
        }
    }

    /// Opens /dev/null for each of stdin, stdout and stderr that is closed. Otherwise a file that is opened later would
    /// get the number of the stream. /dev/null gets the wrong mode, so that the stream still cannot be read or written.
    private static func openClosedStreams() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where bhl_fcntl_int(stream, F_GETFD, 0) < 0 {
            // A new descriptor gets the lowest free number, which is the number of the stream.
            _ = bhl_open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY, 0)
        }
    }

    private static func end(_ error: CommandError?, command: String, output: Output) -> Int32 {
        output.clearProgress()
        if let error { output.error(error) }
        switch error {
        case .usage:
            if !output.isJSON { _ = Output.write("Try `\(command) --help`.\n", to: STDERR_FILENO) }
            return ExitCode.usage.rawValue
        case .failure(let failure): return failure.exitCode.rawValue
        case .stopped(let code, _): return code.rawValue
        case .interrupted(let signal): Signals.terminate(of: signal)
        case nil: return ExitCode.libraryFailed.rawValue
        }
    }

    private static func help(_ name: String?, isJSON: Bool) throws(CommandError) -> Int32 {
        guard let name else { return show(isJSON ? HelpDocument.program.text + "\n" : Help.program) }
        guard let entry = Commands.named(name) else { throw noCommand(name) }
        return show(isJSON ? HelpDocument.command(entry.description).text + "\n" : Help.command(entry.description))
    }

    private static func noCommand(_ name: String) -> CommandError {
        if name == OptionDescription.version.name { return .usage("there is no command '\(name)'; write --\(name)") }
        let nearest = Suggestion.nearest(to: name, among: Commands.all.map(\.description.name))
        return .usage("there is no command '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
    }

    private static func show(_ text: String) -> Int32 {
        Output.write(text, to: STDOUT_FILENO) ? ExitCode.done.rawValue : ExitCode.transferFailed.rawValue
    }
}
