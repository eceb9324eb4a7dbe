import Backhaul

/// The options for a request's body. `--data-binary` and `--form` have the same names in curl.
struct BodyOptions {
    static let descriptions = [
        OptionDescription("data-binary", nil, "DATA", "send DATA; @FILE sends that file, '@-' standard input"),
        OptionDescription(
            "form", "F", "NAME=VALUE",
            "send a form; may be repeated. NAME=@FILE sends a file, optionally with ;type=... and ;filename=...; "
                + "NAME=<FILE sends its content as a value", kind: .field),
        OptionDescription(
            "body-source", nil, "reference|snapshot|consume",
            "files are read where they are (reference), copied now (snapshot), or moved into the store (consume): "
                + "deleted after success, given back otherwise"),
    ].map { $0.section(.body) }

    /// The body that these options give. Nil if they give none.
    let body: Body?
    let source: Body.Source

    init(_ arguments: Arguments) throws(CommandError) {
        let data = arguments.value("data-binary")
        var parts: [Part] = []
        for text in arguments.all("form") { parts.append(try BodyOptions.part(text)) }
        if data != nil && !parts.isEmpty { throw .usage("--data-binary and --form exclude each other") }
        source = (try arguments.choice("body-source", Body.Source.self) ?? nil) ?? .reference
        if let data {
            if data.hasPrefix("@") && data != "@-" {
                body = .file(try Paths.absolute(String(data.dropFirst())), source)
            } else {
                body = .bytes(data == "@-" ? try InputFile.content("-") : Array(data.utf8))
            }
        } else {
            body = parts.isEmpty ? nil : .form(parts, source)
        }
    }

    /// Throws if `--body-source` is given, but there is no file to which it could apply.
    func checkSource() throws(CommandError) {
        switch body {
        case .file, .form: return
        case nil, .bytes:
            guard source != .reference else { return }
            throw .usage(
                "--body-source is given, but there is no file; give one with --data-binary @FILE or --form")
        }
    }

    /// Parses a part of a form, such as "name=value", "name=@file;type=image/png;filename=other.png" or
    /// "name=<file;type=text/plain".
    private static func part(_ text: String) throws(CommandError) -> Part {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw .usage("--form takes NAME=VALUE or NAME=@FILE, not '\(text)'")
        }
        let name = String(text[..<equals])
        let content = text[text.index(after: equals)...]
        guard content.hasPrefix("@") || content.hasPrefix("<") else {
            return Part(name, String(content))
        }
        let words = content.dropFirst().split(separator: ";", omittingEmptySubsequences: false)
        let file = String(words[0])
        let isValue = content.hasPrefix("<")
        var part = Part(
            name, isValue ? .value(try InputFile.content(file)) : .file(try Paths.absolute(file)))
        for word in words.dropFirst() {
            if word.hasPrefix("type=") {
                part.mediaType = String(word.dropFirst(5))
            } else if word.hasPrefix("filename=") {
                part.fileName = String(word.dropFirst(9))
            } else {
                throw .usage("after a file, --form takes ;type= and ;filename=, not ';\(word)'")
            }
        }
        return part
    }
}
