import CLinux
import Glibc

/// Text for people.
enum Text {
    /// Servers choose names and sentences: a control character, or one that reorders a line, is shown instead of sent.
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

    /// Columns on a terminal, by the locale's table.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        scalar.isASCII ? 1 : Int(max(0, wcwidth(wchar_t(scalar.value))))
    }

    /// At most `columns` wide, with the middle left out.
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

    /// Paragraphs, which an empty line parts, with their lines broken again to fit.
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

    /// "27.4 MB", in powers of 1,000.
    static func size(_ bytes: UInt64) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        var tenths = bytes / 100
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            tenths /= 1000
        }
        return "\(tenths / 10) EB"
    }

    /// "3 s", "1 min 20 s", "2 h 5 min"
    static func duration(seconds: Int64) -> String {
        if seconds < 60 { return "\(max(0, seconds)) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if seconds < 48 * 3600 { return "\(seconds / 3600) h \(seconds / 60 % 60) min" }
        return "\(seconds / 86_400) days"
    }

    /// A word as a shell reads it.
    static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+=:@,".contains($0) }
        if isPlain { return word }
        var result = "'"
        for character in word { result += character == "'" ? "'\\''" : String(character) }
        return result + "'"
    }

    /// "in 40 s", or "now" for a time that has come.
    static func time(until milliseconds: Int64) -> String {
        let seconds = (milliseconds - Clock.wallMilliseconds + 999) / 1000
        return seconds > 0 ? "in " + duration(seconds: seconds) : "now"
    }

    /// "5 s", for a time that is over.
    static func time(since milliseconds: Int64) -> String {
        duration(seconds: max(0, (Clock.wallMilliseconds - milliseconds) / 1000))
    }

    /// "1 transfer", "3 transfers"
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) " + (number == 1 ? noun : plural ?? noun + "s")
    }

    /// Rows of cells, the first of which are titles. Columns are as wide as their widest cell, and the last one ends
    /// where it ends.
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

    static func hexadecimal(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
