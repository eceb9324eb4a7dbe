/// Reads the bytes of a blob in sequence. Each function returns nil if the bytes are damaged, for example truncated.
struct BlobReader {
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8], from position: Int) {
        self.bytes = bytes
        self.position = min(position, bytes.count)
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func readByte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a varint: seven bits in each byte, the lowest bits first. The highest bit of a byte states that another
    /// byte follows. A number of more than 64 bits is damaged, and so is a number with more bytes than necessary.
    mutating func readVarint() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = readByte() {
            let bits = UInt64(byte & 0x7F)
            // The tenth byte has the highest bit of the number.
            guard shift < 63 || (shift == 63 && bits <= 1 && byte & 0x80 == 0) else { return nil }
            number |= bits << shift
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : number }
            shift += 7
        }
        return nil
    }

    /// Reads a number of four bytes, little-endian.
    mutating func readNumber() -> UInt32? {
        var number: UInt32 = 0
        for shift in stride(from: 0, to: UInt32(32), by: 8) {
            guard let byte = readByte() else { return nil }
            number |= UInt32(byte) << shift
        }
        return number
    }

    /// Reads a text with this number of bytes.
    mutating func readText(count: UInt64) -> String? {
        guard count <= UInt64(bytes.count - position) else { return nil }
        defer { position += Int(count) }
        return String(decoding: bytes[position..<position + Int(count)], as: UTF8.self)
    }
}

extension [UInt8] {
    mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends a number as four bytes, little-endian.
    mutating func append(number: UInt32) {
        for shift in stride(from: 0, to: UInt32(32), by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func append(copying bytes: Span<UInt8>) {
        // Unsafe: the pointer is used only within the closure.
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
