/// What the value of an option or an operand can be, for completions and for the manual.
struct OptionValue {
    let kind: ValueKind
    /// The words that are values, too. If the kind is `word`, there are no other values.
    let words: [String]
    /// Whether commas separate several values.
    let isList: Bool

    /// - Parameters:
    ///   - placeholder: The value as the help shows it, such as "FILE", "fail|replace|skip", "NUMBER|now" or
    ///     "STATE,...". Words in small letters stand for themselves, and words in capitals name a kind.
    ///   - kind: The kind of the value, if the placeholder does not name it.
    ///   - words: The words of a list, if the placeholder does not have them.
    init(_ placeholder: String, kind: ValueKind? = nil, words: [String] = []) {
        let parts = placeholder.replacing(",...", with: "").split(separator: "|").map(String.init)
        let named = parts.filter { $0 == $0.lowercased() }
        let other = parts.first { $0 != $0.lowercased() }
        self.words = named + words
        isList = placeholder.hasSuffix(",...") || placeholder == "LIST"
        self.kind = kind ?? (words.isEmpty ? other.map { ValueKind(placeholder: $0) } : nil) ?? .word
    }
}

/// A kind of values.
enum ValueKind: String {
    case text, word, file, directory, url, number, bytes, duration, time
    /// A file after `@`, or the data itself.
    case data
    /// A field of a form. Its value can be a file after `=@`.
    case field
    case task, event, challenge, session, group, application, activity, network
    /// The name of an option of the command, without hyphens.
    case option

    /// The kind that a word in capitals names in the help.
    fileprivate init(placeholder: String) {
        self =
            switch placeholder {
            case "FILE", "PROGRAM": .file
            case "DIRECTORY": .directory
            case "URL": .url
            case "NUMBER", "PERCENT", "DAY": .number
            case "BYTES": .bytes
            case "SECONDS", "DURATION": .duration
            case "TIME": .time
            case "DATA": .data
            default: ValueKind(rawValue: placeholder.lowercased()) ?? .text
            }
    }
}
