import CBackhaul

/// The options for a request's body. `--data-binary` and `--form` have the same names in curl.
struct BodyOptions {
    static let descriptions = [
        OptionDescription("data-binary", nil, "DATA", "send DATA; @FILE sends that file, '@-' standard input"),
        OptionDescription(
            "form", "F", "NAME=VALUE",
            "send a form; may be repeated. NAME=@FILE sends a file, optionally with ;type=... and ;filename=...; "
                + "NAME=<FILE sends its content as a value"),
        OptionDescription(
            "body-source", nil, "reference|snapshot|consume",
            "files are read where they are (reference), copied now (snapshot), or moved into the store (consume): "
                + "deleted after success, given back otherwise"),
    ]

    private let body: Body?
    let source: Int32

    init(_ arguments: Arguments) throws(CommandError) {
        let data = arguments.value("data-binary")
        var parts: [Part] = []
        for text in arguments.all("form") { parts.append(try BodyOptions.part(text)) }
        if data != nil && !parts.isEmpty { throw .usage("--data-binary and --form exclude each other.") }
        if let data {
            if data.hasPrefix("@") && data != "@-" {
                body = .file(try Paths.absolute(String(data.dropFirst())))
            } else {
                body = .bytes(data == "@-" ? try InputFile.content("-") : Array(data.utf8))
            }
        } else {
            body = parts.isEmpty ? nil : .form(parts)
        }
        source = try arguments.choice(
            "body-source",
            [("reference", BH_BODY_REFERENCE), ("snapshot", BH_BODY_SNAPSHOT), ("consume", BH_BODY_CONSUME)]) ?? 0
    }

    var given: Body? { body }

    /// Parses a part of a form, such as "name=value", "name=@file;type=image/png;filename=other.png" or
    /// "name=<file;type=text/plain".
    private static func part(_ text: String) throws(CommandError) -> Part {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw .usage("--form takes NAME=VALUE or NAME=@FILE, not '\(text)'.")
        }
        let name = String(text[..<equals])
        let content = text[text.index(after: equals)...]
        guard content.hasPrefix("@") || content.hasPrefix("<") else {
            return Part(name: name, content: .value(Array(content.utf8)))
        }
        let words = content.dropFirst().split(separator: ";", omittingEmptySubsequences: false)
        let file = String(words[0])
        let isValue = content.hasPrefix("<")
        var part = Part(
            name: name, content: isValue ? .value(try InputFile.content(file)) : .file(try Paths.absolute(file)))
        for word in words.dropFirst() {
            if word.hasPrefix("type=") {
                part.mediaType = String(word.dropFirst(5))
            } else if word.hasPrefix("filename=") {
                part.fileName = String(word.dropFirst(9))
            } else {
                throw .usage("After a file, --form takes ;type= and ;filename=, not ';\(word)'.")
            }
        }
        return part
    }
}
