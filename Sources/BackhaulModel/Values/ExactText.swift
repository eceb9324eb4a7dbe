/// A text as the store compares it, byte by byte. Texts of Swift are equal when they look the same, so that in a
/// dictionary a session with an "é" of one character and another with one of two would be one.
public struct ExactText: Hashable, Sendable {
    public var text: String

    public init(_ text: String) { self.text = text }

    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
