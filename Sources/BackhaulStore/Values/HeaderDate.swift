internal import BackhaulModel

/// Dates of header fields, such as the value of Last-Modified, as the seconds since 1970 in four bytes (little-endian).
/// Dates before 1970 and after February 2106 are stored as texts.
enum HeaderDate {
    /// Returns the seconds of a date; nil if the text of these seconds would not have the same bytes, for example
    /// because the weekday is wrong.
    static func seconds(_ text: Span<UInt8>) -> UInt32? {
        guard let seconds = IMFFixdate.seconds(text).flatMap(UInt32.init(exactly:)),
            let bytes = IMFFixdate.bytes(Int64(seconds))
        else { return nil }
        let formatted = bytes.span
        for index in text.indices where formatted[index] != text[index] { return nil }
        return seconds
    }

    static func text(_ seconds: UInt32) -> String? {
        guard let bytes = IMFFixdate.bytes(Int64(seconds)) else { return nil }
        // Unsafe: the pointer is used only within the closure.
        return bytes.span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
