import CLinux
import Glibc

/// Formatting of text for users.
enum Text {
    /// The text, with a visible escape in place of each control character and of each character that reorders a line.
    /// Names and sentences may come from servers. Without the escapes, a server could control the terminal.
    static func visible(_ text: String) -> String {
        if text.unicodeScalars.allSatisfy(isPrintable) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isPrintable(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
        return result
    }

    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7f }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }

    /// The number of columns that the text takes on a terminal, according to the locale's table of character widths.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    static func width(_ scalar: Unicode.Scalar) -> Int {
        scalar.isASCII ? 1 : Int(max(0, wcwidth(wchar_t(scalar.value))))
    }

    /// The text, at most `columns` wide. The middle of a wider text is replaced by dots.
    static func fitted(_ text: String, columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns >= 5 else { return String(repeating: ".", count: max(0, min(columns, 3))) }
        let tailColumns = (columns - 3) / 2
        var head = ""
        var used = 0
        for scalar in text.unicodeScalars {
            let next = width(scalar)
            if used + next > columns - 3 - tailColumns { break }
            head.unicodeScalars.append(scalar)
            used += next
        }
        var tail: [Unicode.Scalar] = []
        used = 0
        for scalar in text.unicodeScalars.reversed() {
            let next = width(scalar)
            if used + next > tailColumns { break }
            tail.append(scalar)
            used += next
        }
        return head + "..." + String(String.UnicodeScalarView(tail.reversed()))
    }

    static func padded(_ text: String, columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    static func padded(left text: String, columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - width(text))) + text
    }

    /// The text wrapped to `columns`. Empty lines separate paragraphs.
    static func wrapped(_ text: String, columns: Int, indentation: Int = 0) -> String {
        let margin = String(repeating: " ", count: indentation)
        var lines: [String] = [""]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                lines += ["", ""]
                continue
            }
            for word in line.split(separator: " ") {
                let last = lines[lines.count - 1]
                if last.isEmpty {
                    lines[lines.count - 1] = String(word)
                } else if width(last) + 1 + width(String(word)) <= columns - indentation {
                    lines[lines.count - 1] += " " + word
                } else {
                    lines.append(String(word))
                }
            }
        }
        return lines.joined(separator: "\n" + margin)
    }

    /// A size such as "27.4 MB", in powers of 1,000.
    static func size(_ bytes: UInt64) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        var tenths = bytes / 100
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            tenths /= 1000
        }
        return "\(tenths / 10) EB"
    }

    /// A duration such as "3 s", "1 min 20 s" or "2 h 5 min".
    static func duration(seconds: Int64) -> String {
        if seconds < 60 { return "\(max(0, seconds)) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if seconds < 48 * 3600 { return "\(seconds / 3600) h \(seconds / 60 % 60) min" }
        return "\(seconds / 86_400) days"
    }

    /// A word quoted for a shell, if necessary.
    static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+=:@,".contains($0) }
        if isPlain { return word }
        var result = "'"
        for character in word { result += character == "'" ? "'\\''" : String(character) }
        return result + "'"
    }

    /// A time such as "in 40 s", or "now" if the time has passed.
    static func time(until milliseconds: Int64) -> String {
        let seconds = (milliseconds - Clock.wallMilliseconds + 999) / 1000
        return seconds > 0 ? "in " + duration(seconds: seconds) : "now"
    }

    /// The duration since a time, such as "5 s".
    static func time(since milliseconds: Int64) -> String {
        duration(seconds: max(0, (Clock.wallMilliseconds - milliseconds) / 1000))
    }

    /// A number with a noun, such as "1 transfer" or "3 transfers".
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) " + (number == 1 ? noun : plural ?? noun + "s")
    }

    /// The lines of a table. The first row has the titles. Each column is as wide as its widest cell, but the last
    /// column is not padded.
    static func table(_ rows: [[String]]) -> [String] {
        let cells = rows.map { $0.map(visible) }
        let count = cells.map { $0.count }.max() ?? 0
        let widths = (0..<count).map { column in
            cells.map { $0.indices.contains(column) ? width($0[column]) : 0 }.max() ?? 0
        }
        return cells.map { row in
            row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : padded(cell, columns: widths[column] + 2)
            }.joined()
        }
    }

    static func hexadecimal(_ value: some BinaryInteger, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
