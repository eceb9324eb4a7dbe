internal import BackhaulModel

/// Strings as one blob, for lists that no statement searches. Each string is encoded as its length (four bytes,
/// little-endian), followed by its bytes.
enum TextBlob {
    /// Encodes the strings. Returns nil if there are none.
    static func pack(_ texts: [String]) -> [UInt8]? {
        guard !texts.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for text in texts {
            bytes.append(number: UInt32(clamping: text.utf8.count))
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
        var reader = BlobReader(bytes, from: 0)
        var texts: [String] = []
        while !reader.isAtEnd {
            guard let size = reader.readNumber(), let text = reader.readText(count: UInt64(size)) else {
                throw damaged(what)
            }
            texts.append(text)
        }
        return texts
    }
}
