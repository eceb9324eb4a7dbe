import Glibc

/// The hidden command `complete-words`, which the completions of bash, zsh and fish call. Its arguments are the words
/// of a command line after `backhaul`, up to the word at the cursor.
///
/// The first line of the output is `words`, `files` or `directories`, a tab, and the beginning of the word to which the
/// shell adds paths. Each other line has a candidate for the whole word, a tab, and a description. The command prints
/// no errors, and it always succeeds.
struct Completion {
    static let command = "complete-words"

    static func run(_ words: [String]) -> Int32 {
        let completion = Completion(current: words.last ?? "", previous: words.dropLast())
        // Errors are wrong words before the cursor. The command that the user is typing reports them.
        guard let request = try? completion.request() else { return write("words\t\n") }
        return request.write()
    }

    private static func write(_ text: String) -> Int32 {
        _ = Output.write(text, to: STDOUT_FILENO)
        return ExitCode.done.rawValue
    }

    /// The word at the cursor.
    private let current: String
    private let previous: [String]

    /// What can stand at the cursor.
    private func request() throws(CommandError) -> CompletionRequest {
        var pending: OptionDescription?
        func parse(_ words: [String], _ options: [OptionDescription], stop: Bool) throws(CommandError) -> Arguments {
            try Arguments(words: words, options: options, stopAtOperand: stop) { fault in
                if case .missingArgument(let option) = fault { pending = option }
            }
        }
        let global = OptionDescription.common + [.version]
        let before = try parse(previous, global, stop: true)
        guard let name = before.operands.first else {
            var request = CompletionRequest(before, nil, current)
            request.add(pending: pending, options: global) {
                $0.add(Commands.all.map { ($0.description.name, $0.description.summary) })
                $0.add([("help", "show the help of a command")])
            }
            return request
        }
        guard let entry = Commands.named(name) else {
            var request = CompletionRequest(before, nil, current)
            if name == "help", before.operands.count == 1 {
                request.add(Commands.all.map { ($0.description.name, $0.description.summary) })
            }
            return request
        }
        let description = entry.description
        let words = Array(before.operands.dropFirst())
        var arguments = try parse(words, description.allOptions, stop: description.takesProgram)
        arguments.merge(before)
        let operands = arguments.operands
        // After `--`, and in the arguments of a program, words that begin with a hyphen are operands.
        let endsOptions = words.contains("--") || description.takesProgram && !operands.isEmpty
        let values = description.operandGrammar.next(after: operands)
        var request = CompletionRequest(arguments, description, current)
        request.add(pending: pending, options: endsOptions ? [] : description.allOptions) { request in
            for value in values { request.add(value, except: operands) }
            if values.isEmpty, current.isEmpty { request.add(names: description.allOptions) }
        }
        return request
    }
}
