internal import BackhaulModel

/// Header fields as one blob: a task may have a hundred, and none is ever searched for. Each name and value is its
/// length as four bytes, little-endian, followed by its bytes.
enum HeaderBlob {
    /// Nil for no fields.
    static func pack(_ fields: [HeaderField]) -> [UInt8]? {
        guard !fields.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for field in fields {
            append(field.name, to: &bytes)
            append(field.value, to: &bytes)
        }
        return bytes
    }

    static func unpack(_ bytes: [UInt8]?) throws(Failure) -> [HeaderField] {
        guard let bytes else { return [] }
        var rest = bytes[...]
        var fields: [HeaderField] = []
        while !rest.isEmpty {
            let name = try text(from: &rest)
            fields.append(HeaderField(name, try text(from: &rest)))
        }
        return fields
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let count = UInt32(clamping: text.utf8.count)
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> UInt32(shift))) }
        bytes.append(contentsOf: text.utf8)
    }

    private static func text(from bytes: inout ArraySlice<UInt8>) throws(Failure) -> String {
        let size = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= 4, bytes.count - 4 >= size else {
            throw Failure(
                .storeDamaged, "the store's database is damaged: the headers of a task cannot be read; put back a copy")
        }
        bytes = bytes.dropFirst(4)
        defer { bytes = bytes.dropFirst(size) }
        return String(decoding: bytes.prefix(size), as: UTF8.self)
    }
}
