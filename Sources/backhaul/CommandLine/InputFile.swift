import Backhaul
import CLinux
import Glibc
import Synchronization

/// Reads the input files that options name. '-' means standard input.
enum InputFile {
    private static let isStandardInputRead = Atomic(false)

    static func lines(_ file: String) throws(CommandError) -> [String] {
        var lines: [String] = []
        for line in try content(file).split(whereSeparator: isEndOfLine) { lines.append(try text(line, file)) }
        return lines
    }

    static func firstLine(_ file: String) throws(CommandError) -> String {
        try text(content(file).prefix { !isEndOfLine($0) }, file)
    }

    /// The password in the first line of a file, to which only its owner may have access.
    static func password(_ file: String) throws(CommandError) -> String {
        try PrivateFile.check(file)
        let password = try firstLine(file)
        if password.isEmpty { throw .usage("\(name(file)) has no password in its first line") }
        return password
    }

    /// The file as messages name it.
    static func name(_ file: String) -> String { file == "-" ? "standard input" : file }

    private static func isEndOfLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private static func text(_ line: ArraySlice<UInt8>, _ file: String) throws(CommandError) -> String {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .usage("\(name(file)) has a line that is not valid UTF-8")
        }
        return text
    }

    static func content(_ file: String) throws(CommandError) -> [UInt8] {
        if file == "-", isStandardInputRead.exchange(true, ordering: .relaxed) {
            throw .usage("two options read standard input; give a file in place of one '-'")
        }
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

    /// The text without blanks at its ends. A byte order mark is a blank, too: editors and `cat` leave them in lists.
    static func trimmed(_ text: Substring) -> String {
        let isBlank = { (scalar: Unicode.Scalar) in [" ", "\t", "\u{FEFF}"].contains(scalar) }
        let scalars = text.unicodeScalars.drop(while: isBlank)
        let end = scalars.lastIndex { !isBlank($0) }.map(scalars.index(after:)) ?? scalars.startIndex
        return String(Substring(scalars[..<end]))
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
