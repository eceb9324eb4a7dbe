internal import BackhaulModel

/// Header fields as one blob, because a task may have a hundred fields and no statement searches them. Names and values
/// alternate in the blob.
enum HeaderBlob {
    /// Encodes the fields. Returns nil if there are none.
    static func pack(_ fields: [HeaderField]) -> [UInt8]? {
        TextBlob.pack(fields.flatMap { [$0.name, $0.value] })
    }

    static func unpack(_ bytes: [UInt8]?) throws(Failure) -> [HeaderField] {
        let what = "the headers of a task"
        let texts = try TextBlob.unpack(bytes, what)
        guard texts.count.isMultiple(of: 2) else { throw TextBlob.damaged(what) }
        return stride(from: 0, to: texts.count, by: 2).map { HeaderField(texts[$0], texts[$0 + 1]) }
    }
}
