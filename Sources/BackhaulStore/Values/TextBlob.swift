internal import BackhaulModel

/// Texts as one blob, for lists that no statement searches. Each text is the number of its bytes, and the bytes. The
/// number is a varint: seven bits in each byte, the lowest bits first. The highest bit of a byte states that another
/// byte follows.
enum TextBlob {
    /// Encodes the texts. Returns nil if there are none.
    static func pack(_ texts: [String]) -> [UInt8]? {
        guard !texts.isEmpty else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + $1.utf8.count + 3 })
        for text in texts {
            var rest = text.utf8.count
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
            bytes.append(contentsOf: text.utf8)
        }
        return bytes
    }

    /// Decodes the texts. `what` names the texts in the error, for example "the headers of a task".
    static func unpack(_ bytes: [UInt8]?, _ what: String) throws(Failure) -> [String] {
        var rest = bytes?[...] ?? []
        var texts: [String] = []
        while !rest.isEmpty {
            guard let count = readCount(&rest), count <= rest.count else {
                throw damaged(what)
            }
            texts.append(String(decoding: rest.prefix(count), as: UTF8.self))
            rest = rest.dropFirst(count)
        }
        return texts
    }

    static func damaged(_ what: String) -> Failure {
        Failure(.storeDamaged, "the store's database is damaged: \(what) cannot be read; put back a copy")
    }

    /// Reads a varint. Returns nil if it is incomplete, or if the number has more than 35 bits.
    private static func readCount(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        var number = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            number |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }
}

/// Header fields as one blob: the name and the value of each field, as in `TextBlob`.
enum HeaderBlob {
    private static let what = "the headers of a task"

    static func pack(_ fields: [HeaderField]) -> [UInt8]? {
        TextBlob.pack(fields.flatMap { [$0.name, $0.value] })
    }

    static func unpack(_ bytes: [UInt8]?) throws(Failure) -> [HeaderField] {
        let texts = try TextBlob.unpack(bytes, what)
        guard texts.count.isMultiple(of: 2) else { throw TextBlob.damaged(what) }
        return stride(from: 1, to: texts.count, by: 2).map { HeaderField(texts[$0 - 1], texts[$0]) }
    }
}
