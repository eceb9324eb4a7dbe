internal import BackhaulModel

/// Header fields as one blob, because a task may have a hundred fields and no statement searches them.
///
/// A blob consists of two marker bytes (255) and the fields. Each field consists of a name and a value. A known name is
/// one byte: its code in `HeaderName`. Any other name is the byte 1, a varint with its number of bytes, and the bytes.
/// `HeaderValue` describes the values.
///
/// Earlier versions stored names and values as a `TextBlob`, which begins with the length of the first name in four
/// bytes, and is still read. A name has at most 65,536 bytes (`Limits.headersSize`). So if the first two bytes of a
/// `TextBlob` are 255, the name has 65,535 bytes and the third byte is zero. In the new format, the third byte begins
/// a name and is never zero.
enum HeaderBlob {
    private static let marker: UInt8 = 255
    private static let textName: UInt8 = 1

    /// Encodes the fields. Returns nil if there are none.
    static func pack(_ fields: [HeaderField]) -> [UInt8]? {
        guard !fields.isEmpty else { return nil }
        var blob: [UInt8] = []
        // A name or value takes at most its bytes, a code, and a varint of five bytes for a length up to 32 GiB.
        blob.reserveCapacity(fields.reduce(2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 12 })
        blob.append(marker)
        blob.append(marker)
        for field in fields {
            let name = field.name.utf8.span
            if let code = HeaderName.code(of: name) {
                blob.append(code)
            } else {
                blob.append(textName)
                blob.append(varint: UInt64(name.count))
                blob.append(copying: name)
            }
            HeaderValue.append(field.value.utf8.span, to: &blob)
        }
        return blob
    }

    static func unpack(_ bytes: [UInt8]?) throws(Failure) -> [HeaderField] {
        guard let bytes else { return [] }
        guard bytes.count > 2, bytes[0] == marker, bytes[1] == marker, bytes[2] != 0 else {
            return try unpackTexts(bytes)
        }
        var reader = BlobReader(bytes, from: 2)
        var fields: [HeaderField] = []
        // A response has about ten fields. Each field takes at least two bytes.
        fields.reserveCapacity(min(bytes.count / 2, 12))
        while !reader.isAtEnd {
            guard let name = readName(from: &reader), let value = HeaderValue.read(from: &reader) else {
                throw TextBlob.damaged(what)
            }
            fields.append(HeaderField(name, value))
        }
        return fields
    }

    private static let what = "the headers of a task"

    private static func readName(from reader: inout BlobReader) -> String? {
        guard let first = reader.readByte() else { return nil }
        guard first == textName else { return HeaderName.name(of: first) }
        return reader.readVarint().flatMap { reader.readText(count: $0) }
    }

    /// Decodes a blob of an earlier version.
    private static func unpackTexts(_ bytes: [UInt8]) throws(Failure) -> [HeaderField] {
        let texts = try TextBlob.unpack(bytes, what)
        guard texts.count.isMultiple(of: 2) else { throw TextBlob.damaged(what) }
        return stride(from: 0, to: texts.count, by: 2).map { HeaderField(texts[$0], texts[$0 + 1]) }
    }
}
