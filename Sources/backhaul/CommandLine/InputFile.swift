import Backhaul
import CLinux
import Glibc

/// Reads the input files that options name. '-' means standard input.
enum InputFile {
    static func lines(_ file: String) throws(CommandError) -> [String] {
        var lines: [String] = []
        for line in try content(file).split(whereSeparator: isEndOfLine) { lines.append(try text(line, file)) }
        return lines
    }

    /// One URL of a list, and where it is.
    struct ListedURL {
        let text: String
        /// The position for messages, such as "line 3 of list".
        let place: String
        /// What is wrong with the line. Nil if it has no common mistake.
        let problem: String?
    }

    /// Reads URLs, one on each line. Empty lines and comments ('#') are left out. The text of a line that is not UTF-8
    /// is repaired, for messages.
    static func urls(_ file: String) throws(CommandError) -> [ListedURL] {
        let bytes = try content(file)
        let name = file == "-" ? "standard input" : file
        guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
            throw .usage("\(name) is in UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8 FILE")
        }
        var urls: [ListedURL] = []
        let text = String(decoding: bytes, as: UTF8.self)
        // A line break of Windows, CR LF, is one Character.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: isLineBreak).enumerated() {
            let url = trimmed(line)
            guard !url.isEmpty, !url.hasPrefix("#") else { continue }
            urls.append(ListedURL(text: url, place: "line \(index + 1) of \(name)", problem: problem(url)))
        }
        return urls
    }

    private static func isLineBreak(_ character: Character) -> Bool { ["\n", "\r", "\r\n"].contains(character) }

    /// The line without blanks at its ends. A byte order mark is a blank, too: editors and `cat` leave them in lists.
    private static func trimmed(_ line: Substring) -> String {
        let isBlank = { (scalar: Unicode.Scalar) in [" ", "\t", "\u{FEFF}"].contains(scalar) }
        let scalars = line.unicodeScalars.drop(while: isBlank)
        let end = scalars.lastIndex { !isBlank($0) }.map(scalars.index(after:)) ?? scalars.startIndex
        return String(Substring(scalars[..<end]))
    }

    private static func problem(_ url: String) -> String? {
        if url.unicodeScalars.contains("\u{FFFD}") { return "the line is not valid UTF-8" }
        if let bad = url.unicodeScalars.first(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            if bad == " " { return "the URL contains a space; write it as %20, or give one URL a line" }
            let digits = String(bad.value + 0x10000, radix: 16).suffix(4)
            return "the URL contains the control character U+\(digits); remove it"
        }
        return URLArgument(url).advice
    }

    static func firstLine(_ file: String) throws(CommandError) -> String {
        try text(content(file).prefix { !isEndOfLine($0) }, file)
    }

    /// The password in the first line of a file, to which only its owner may have access.
    static func password(_ file: String) throws(CommandError) -> String {
        try PrivateFile.check(file)
        return try firstLine(file)
    }

    private static func isEndOfLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private static func text(_ line: ArraySlice<UInt8>, _ file: String) throws(CommandError) -> String {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .usage("\(file == "-" ? "standard input" : file) has a line that is not valid UTF-8")
        }
        return text
    }

    static func content(_ file: String) throws(CommandError) -> [UInt8] {
        let descriptor = file == "-" ? STDIN_FILENO : bhl_open(file, O_RDONLY, 0)
        guard descriptor >= 0 else { throw .usage("\(file) cannot be read: \(reasonOfLastError())") }
        defer { if file != "-" { close(descriptor) } }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            guard count > 0 else { throw .usage("\(file) cannot be read: \(reasonOfLastError())") }
            content += buffer[..<count]
        }
        return content
    }

    /// Reads header fields, one on each line.
    static func headers(_ file: String) throws(CommandError) -> [Header] {
        var headers: [Header] = []
        for line in try lines(file) { headers.append(try header(line)) }
        return headers
    }

    static func header(_ text: String) throws(CommandError) -> Header {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw .usage("a header has no colon after its name; write it as 'NAME: VALUE'")
        }
        return Header(
            name: String(text[..<colon]),
            value: String(text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }))
    }
}
