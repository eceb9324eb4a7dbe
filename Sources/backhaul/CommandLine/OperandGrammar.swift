/// The operands that a command takes, as its help shows them: "URL...", "[FILE...] URL", "install | status" or
/// "[set ACTIVITY [URL] | remove ACTIVITY]". Words in small letters stand for themselves. Alternatives that are
/// options, such as "--all", are left out.
struct OperandGrammar {
    /// One operand, or a series of operands of the same kind.
    struct Part {
        let value: OptionValue
        let isOptional: Bool
        let repeats: Bool

        /// Whether the operand can be this word.
        fileprivate func accepts(_ word: String) -> Bool {
            value.kind != .word || value.words.contains(word)
        }
    }

    private let alternatives: [[Part]]

    init(_ synopsis: String) {
        alternatives = OperandGrammar.withoutBrackets(synopsis).split(separator: " | ").filter { !$0.hasPrefix("--") }
            .map { alternative in
                alternative.split(separator: " ").map(OperandGrammar.part).filter { $0.value.words != ["--"] }
            }
    }

    /// The synopsis without the brackets around all of its alternatives, if it has such brackets.
    private static func withoutBrackets(_ synopsis: String) -> Substring {
        let inner = synopsis.dropFirst().dropLast()
        let closesEarly = inner.firstIndex(of: "]").map { !inner[..<$0].contains("[") } ?? false
        return synopsis.hasPrefix("[") && inner.contains(" ") && !closesEarly ? inner : synopsis[...]
    }

    private static func part(_ word: Substring) -> Part {
        let isOptional = word.hasPrefix("[")
        var word = word
        if isOptional { word = word.dropFirst().dropLast() }
        let repeats = word.hasSuffix("...")
        if repeats { word = word.dropLast(3) }
        return Part(value: OptionValue(String(word)), isOptional: isOptional, repeats: repeats)
    }

    /// What the operand after the given operands can be.
    func next(after operands: [String]) -> [OptionValue] {
        alternatives.flatMap { parts in
            var positions = OperandGrammar.reachable(from: [0], parts)
            for operand in operands {
                let passed = positions.filter { $0 < parts.count && parts[$0].accepts(operand) }
                positions = OperandGrammar.reachable(
                    from: passed.flatMap { parts[$0].repeats ? [$0, $0 + 1] : [$0 + 1] }, parts)
            }
            return positions.filter { $0 < parts.count }.map { parts[$0].value }
        }
    }

    /// The positions with those behind optional parts.
    private static func reachable(from positions: [Int], _ parts: [Part]) -> [Int] {
        var found: [Int] = []
        for start in positions {
            var position = start
            while !found.contains(position) {
                found.append(position)
                guard position < parts.count, parts[position].isOptional else { break }
                position += 1
            }
        }
        return found.sorted()
    }

    /// The actions of a command such as `service`, whose first operand is always one of a few words. Empty for other
    /// commands.
    var actions: [String] {
        let first = alternatives.compactMap(\.first)
        return first.allSatisfy { $0.value.kind == .word } ? first.flatMap(\.value.words) : []
    }

    /// Throws if the first operand of a command with actions, such as `service install`, is none of its actions.
    static func checkAction(_ operands: [String], of command: CommandDescription) throws(CommandError) {
        let actions = command.operandGrammar.actions
        guard let word = operands.first, !actions.isEmpty, !actions.contains(word) else { return }
        throw .usage("`\(command.name)` has no action '\(word)'" + Suggestion.phrase(for: word, among: actions))
    }
}
