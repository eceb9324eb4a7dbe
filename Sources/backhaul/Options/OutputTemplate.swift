import enum BackhaulModel.ServerFileName

/// The value of `--output`: a path in which words such as `{name}` stand for parts of a URL. What comes from the URL
/// never leads out of the directory.
struct OutputTemplate {
    private enum Word: String, CaseIterable {
        /// The name of the server, and its port if the URL has one.
        case host
        /// The directories in the URL's path.
        case path
        /// The name that the file has without a template.
        case name
        /// The position of the URL in the command.
        case number
    }

    private enum Part {
        case text(String)
        case word(Word)
    }

    private let parts: [Part]
    private let isAbsolute: Bool

    /// Whether each URL has a file of its own.
    var hasWords: Bool { parts.contains { if case .word = $0 { true } else { false } } }

    /// - Parameter option: The option for messages.
    init(_ text: String, option: String) throws(CommandError) {
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let first = rest.popFirst() {
            if first == "{" || first == "}", rest.first == first {
                plain.append(rest.removeFirst())
            } else if first == "{", let end = rest.firstIndex(of: "}") {
                parts += [.text(plain), .word(try OutputTemplate.word(String(rest[..<end]), option))]
                plain = ""
                rest = rest[rest.index(after: end)...]
            } else if first == "{" || first == "}" {
                throw .usage("\(option) has a single '\(first)'; write \(first)\(first) for the character itself")
            } else {
                plain.append(first)
            }
        }
        self.parts = parts + [.text(plain)]
        isAbsolute = text.hasPrefix("/")
    }

    private static func word(_ text: String, _ option: String) throws(CommandError) -> Word {
        if let word = Word(rawValue: text) { return word }
        let known = Word.allCases.map { "{\($0.rawValue)}" }
        throw .usage(
            "\(option) has the unknown word '{\(text)}'" + Suggestion.phrase(for: "{\(text)}", among: known)
                + " (a brace itself is written {{)")
    }

    /// The path of the file for a URL. Nil if no character is left.
    func path(of url: String, number: Int) -> String? {
        var path = ""
        for part in parts {
            switch part {
            case .text(let text): path += text
            case .word(.host): path += ServerFileName.component(TransferName.host(of: url).lowercased()) ?? ""
            case .word(.path): path += ServerFileName.directories(of: url).joined(separator: "/")
            case .word(.name): path += TransferName.file(of: url)
            case .word(.number): path += String(number)
            }
        }
        // Without this, an empty {path} at the start would make the path absolute.
        let components = path.split(separator: "/").joined(separator: "/")
        if components.isEmpty { return nil }
        return (isAbsolute ? "/" : "") + components + (path.hasSuffix("/") ? "/" : "")
    }
}
