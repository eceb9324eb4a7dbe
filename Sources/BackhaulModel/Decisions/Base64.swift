/// Base64 (RFC 4648, section 4). The library has its own code for base64. Foundation also offers base64, but Foundation
/// is as large as this whole library.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    public static func text(_ bytes: [UInt8]) -> String { String(decoding: encoded(bytes), as: UTF8.self) }

    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : 0x3D)
            }
        }
        return text
    }

    /// Returns the decoded bytes; nil if a character is not in the alphabet or the length is impossible. Padding may be
    /// missing, and the unused bits of the last digit may have any value (RFC 9651, section 4.2.7).
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var digits = text
        while digits.count > text.count - 2, digits.last == 0x3D { digits = digits.dropLast() }
        guard digits.count % 4 != 1, digits.count == text.count || text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (bits, count) = (UInt32(0), 0)
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xFFFFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }
}
