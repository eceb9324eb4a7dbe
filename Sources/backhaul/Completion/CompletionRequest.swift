import CLinux
import Glibc

/// The candidates for the word at the cursor.
struct CompletionRequest {
    private typealias Candidate = (value: String, description: String)

    /// The options and operands before the cursor.
    private let arguments: Arguments
    private let command: CommandDescription?
    private let current: String
    /// Whether the shell completes paths, and the beginning of the word to which it adds them.
    private var paths: (word: String, prefix: String) = ("words", "")
    private var candidates: [Candidate] = []
    /// The names for which the engine is asked, and the beginning of the word to which each of them is added.
    private var names: (kind: ValueKind, prefix: String, except: [String])?

    init(_ arguments: Arguments, _ command: CommandDescription?, _ current: String) {
        self.arguments = arguments
        self.command = command
        self.current = current
    }

    /// Adds the value of an option, the names of options, or operands.
    /// - Parameters:
    ///   - pending: The option whose value is at the cursor, if there is one.
    ///   - options: The options that the word at the cursor can be.
    ///   - addOperands: Adds the operands that the word at the cursor can be.
    mutating func add(
        pending: OptionDescription?, options: [OptionDescription], _ addOperands: (inout CompletionRequest) -> Void
    ) {
        if let value = pending?.value {
            add(value)
        } else if !current.hasPrefix("-") || options.isEmpty {
            addOperands(&self)
        } else if current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
            let name = current[..<equals].dropFirst(2)
            if let value = options.first(where: { $0.name == name })?.value {
                add(value, after: String(current[...equals]))
            }
        } else if let value = options.first(where: { attached($0) })?.value {
            add(value, after: String(current.prefix(2)))
        } else {
            add(names: options)
        }
    }

    /// Whether the word at the cursor is the letter of the option, followed by its value.
    private func attached(_ option: OptionDescription) -> Bool {
        guard let letter = option.letter, option.value != nil, current.count > 2 else { return false }
        return current.hasPrefix("-\(letter)")
    }

    mutating func add(names options: [OptionDescription]) {
        let shown = options.filter(\.isShown)
        add(shown.map { ("--" + $0.name, $0.help) })
        if current.count == 2 {
            add(shown.compactMap { option in option.letter.map { ("-\($0)", option.help) } })
        }
    }

    mutating func add(_ words: [(String, String)]) { candidates += words.filter { $0.0.hasPrefix(current) } }

    /// - Parameters:
    ///   - prefix: The part of the word at the cursor that is before the value.
    ///   - except: Values that the command line has already.
    mutating func add(_ value: OptionValue, after prefix: String = "", except: [String] = []) {
        var prefix = prefix
        var except = except
        if value.isList {
            let earlier = current.dropFirst(prefix.count).split(separator: ",", omittingEmptySubsequences: false)
            except += earlier.dropLast().map(String.init)
            prefix += earlier.dropLast().map { $0 + "," }.joined()
        }
        add(value.words.filter { !except.contains($0) }.map { (prefix + $0, "") })
        switch value.kind {
        case .file: paths = ("files", prefix)
        case .directory: paths = ("directories", prefix)
        case .data, .field:
            let marks = value.kind == .data ? ["@"] : ["=@", "=<"]
            let text = current.dropFirst(prefix.count)
            let found = marks.compactMap { text.firstRange(of: $0)?.upperBound }.min()
            if let found, value.kind == .field || text.hasPrefix("@") {
                paths = ("files", String(current[..<found]))
            }
        case .option:
            let options = command?.options.filter { $0.isShown && !except.contains($0.name) } ?? []
            add(options.map { (prefix + $0.name, $0.help) } + [(prefix + "all", "all options")])
        case .task, .challenge, .session, .group, .application, .activity, .network:
            names = (value.kind, prefix, except)
        case .text, .word, .url, .number, .bytes, .duration, .time, .event: break
        }
    }

    /// Writes the candidates. The names that only the engine knows come last, because the engine may not reply.
    func write() -> Int32 {
        write(["\(paths.word)\t\(paths.prefix)"] + lines(candidates))
        guard let names else { return ExitCode.done.rawValue }
        bhl_exit_after(CompletionRequest.limit)
        let found = (try? EngineNames(arguments, command).all(names.kind)) ?? []
        let added = found.filter { !names.except.contains($0.0) }.map { (names.prefix + $0.0, $0.1) }
        write(lines(added.filter { $0.0.hasPrefix(current) }))
        return ExitCode.done.rawValue
    }

    /// How long the engine may take to reply, in milliseconds. The user waits for the shell meanwhile.
    private static let limit: Int32 = 300

    /// A value with control characters cannot be typed, so it is left out.
    private func lines(_ candidates: [Candidate]) -> [String] {
        candidates.filter { Text.visible($0.value) == $0.value }
            .map { $0.description.isEmpty ? $0.value : "\($0.value)\t\(Text.visible($0.description))" }
    }

    private func write(_ lines: [String]) {
        _ = Output.write(lines.map { $0 + "\n" }.joined(), to: STDOUT_FILENO)
    }
}
