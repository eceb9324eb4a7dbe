/// A text that is compared byte by byte, as in the store. Swift's strings are equal if they look the same. So in a
/// dictionary of strings, a name with "é" as one character would equal a name with "é" as two characters.
public struct ByteString: Hashable, Sendable {
    public var text: String

    public init(_ text: String) { self.text = text }

    public static func == (left: ByteString, right: ByteString) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
