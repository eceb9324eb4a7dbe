internal import BackhaulModel

/// Strings as one blob, for lists that no statement searches. Each string is encoded as its length (four bytes,
/// little-endian), followed by its bytes.
enum TextBlob {
    /// Encodes the strings. Returns nil if there are none.
    static func pack(_ texts: [String]) -> [UInt8]? {
        guard !texts.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for text in texts {
            let count = UInt32(clamping: text.utf8.count)
            for shift in stride(from: 0, to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> UInt32(shift)))
            }
            bytes.append(contentsOf: text.utf8)
        }
        return bytes
    }

    static func damaged(_ what: String) -> Failure {
        Failure(.storeDamaged, "the store's database is damaged: \(what) cannot be read; put back a copy")
    }

    /// Decodes the strings. `what` names the strings in the error, for example "the headers of a task".
    static func unpack(_ bytes: [UInt8]?, _ what: String) throws(Failure) -> [String] {
        guard let bytes else { return [] }
        var rest = bytes[...]
        var texts: [String] = []
        while !rest.isEmpty {
            let size = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 4, rest.count - 4 >= size else {
                throw damaged(what)
            }
            rest = rest.dropFirst(4)
            texts.append(String(decoding: rest.prefix(size), as: UTF8.self))
            rest = rest.dropFirst(size)
        }
        return texts
    }
}
