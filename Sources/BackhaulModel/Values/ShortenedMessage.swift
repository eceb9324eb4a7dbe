/// Shortens messages of errors. The end of a message has the reason and what to do. So long words, which are URLs and
/// paths, lose their middle.
public enum ShortenedMessage {
    private static let mark = "…"
    /// A word of at most this size in bytes stays whole.
    private static let wordSize = 60

    /// The message in at most `size` bytes.
    public static func text(_ message: String, size: Int) -> String {
        var words = message.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        var excess = message.utf8.count - size
        while excess > 0, let longest = words.indices.max(by: { words[$0].utf8.count < words[$1].utf8.count }),
            words[longest].utf8.count > wordSize
        {
            let before = words[longest].utf8.count
            words[longest] = withoutMiddle(words[longest], size: max(wordSize, before - excess))
            excess -= before - words[longest].utf8.count
        }
        let text = words.joined(separator: " ")
        return excess > 0 ? withoutMiddle(text, size: size) : text
    }

    private static func withoutMiddle(_ text: String, size: Int) -> String {
        let bytes = Array(text.utf8)
        let half = (size - mark.utf8.count) / 2
        var (end, start) = (half, bytes.count - half)
        while end > 0, isContinuation(bytes[end]) { end -= 1 }
        while start < bytes.count, isContinuation(bytes[start]) { start += 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + mark + String(decoding: bytes[start...], as: UTF8.self)
    }

    /// Whether the byte continues a character of UTF-8, so that the text must not be cut before it.
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
