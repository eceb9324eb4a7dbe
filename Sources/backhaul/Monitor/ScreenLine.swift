import CLinux
import Glibc

/// How a piece of text looks. Without colors, the weight alone distinguishes the pieces.
struct TextStyle: Hashable {
    enum Color: Int16 {
        case plain = 0
        case red = 1
        case green = 2
        case yellow = 3
        case blue = 4
        case cyan = 6
    }

    var color = Color.plain
    var isBold = false
    var isReversed = false

    static let plain = TextStyle()
    static let bold = TextStyle(isBold: true)
    static let bar = TextStyle(isReversed: true)
    static let good = TextStyle(color: .green)
    static let wait = TextStyle(color: .yellow)
    static let bad = TextStyle(color: .red, isBold: true)
    static let graph = TextStyle(color: .cyan)
}

/// A line of the screen: pieces of text, each with a style. The text has no control characters.
struct ScreenLine: Equatable {
    struct Piece: Equatable {
        let text: String
        let style: TextStyle
    }

    private(set) var pieces: [Piece] = []

    init() {}

    init(_ text: String, _ style: TextStyle = .plain) { add(text, style) }

    mutating func add(_ text: String, _ style: TextStyle = .plain) {
        if !text.isEmpty { pieces.append(Piece(text: ScreenText.drawable(text), style: style)) }
    }

    /// Adds spaces until the line has this width.
    mutating func pad(to columns: Int, _ style: TextStyle = .plain) {
        add(String(repeating: " ", count: max(0, columns - width)), style)
    }

    var text: String { pieces.map(\.text).joined() }
    var width: Int { pieces.reduce(0) { $0 + Text.width($1.text) } }

    /// The line, at most `columns` wide.
    func cut(to columns: Int) -> ScreenLine {
        var line = ScreenLine()
        for piece in pieces {
            let room = columns - line.width
            if room <= 0 { break }
            line.add(ScreenText.cut(piece.text, columns: room), piece.style)
        }
        return line
    }
}

/// Text that has the same number of columns in every terminal.
enum ScreenText {
    /// The text with escapes in place of control characters, and with a question mark in place of each character that
    /// the locale cannot show or whose width it does not know. Selectors that only choose between two pictures of one
    /// character are left out, because terminals disagree about the width of the pictures.
    static func drawable(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
        var result = String.UnicodeScalarView()
        for scalar in Text.visible(text).unicodeScalars where !isPictureSelector(scalar) {
            result.append(scalar.isASCII || wcwidth(wchar_t(scalar.value)) >= 0 ? scalar : "?")
        }
        return String(result)
    }

    /// The beginning of the text, at most `columns` wide.
    static func cut(_ text: String, columns: Int) -> String {
        guard Text.width(text) > columns else { return text }
        var result = String.UnicodeScalarView()
        var used = 0
        for scalar in text.unicodeScalars {
            let next = Text.width(scalar)
            if used + next > columns { break }
            result.append(scalar)
            used += next
        }
        return String(result)
    }

    /// The end of the text, at most `columns` wide.
    static func end(_ text: String, columns: Int) -> String {
        var result = text[...]
        while Text.width(String(result)) > max(0, columns) { result.removeFirst() }
        return String(result)
    }

    /// A cell of a table: the text in exactly `columns` columns.
    static func cell(_ text: String, columns: Int) -> String {
        Text.padded(Text.fitted(drawable(text), columns: columns), columns: columns)
    }

    /// The same, but of a wider text the beginning stays.
    static func cell(start text: String, columns: Int) -> String {
        Text.padded(fitted(start: text, columns: columns), columns: columns)
    }

    /// The text, at most `columns` wide. The end of a wider text is replaced by dots.
    static func fitted(start text: String, columns: Int) -> String {
        let text = drawable(text)
        if Text.width(text) <= columns { return text }
        let dots = columns < 8 ? "" : "..."
        return cut(text, columns: columns - dots.count) + dots
    }

    /// A name and a remark about it, together at most `columns` wide. If there is no room for both, the name keeps at
    /// least half of the room. Nil means that the room has no limit.
    static func fitted(_ name: String, _ remark: String, columns: Int?) -> String {
        guard let columns else { return Text.visible(name + remark) }
        let (name, remark) = (drawable(name), drawable(remark))
        let room = max((columns + 1) / 2, columns - Text.width(remark))
        let shown = Text.fitted(name, columns: room)
        return shown + fitted(start: remark, columns: max(0, columns - Text.width(shown)))
    }

    static func cell(left text: String, columns: Int) -> String {
        Text.padded(left: Text.fitted(drawable(text), columns: columns), columns: columns)
    }

    private static func isPictureSelector(_ scalar: Unicode.Scalar) -> Bool { (0xfe00...0xfe0f).contains(scalar.value) }
}
