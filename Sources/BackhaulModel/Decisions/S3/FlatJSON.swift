/// Reads the members of a JSON object whose values are texts, numbers, true, false or null. Credentials of AWS have
/// this form.
enum FlatJSON {
    /// The members, with numbers and words as they are written, and without those that are null. Nil if the bytes are
    /// not such an object.
    static func members(_ bytes: [UInt8]) -> [String: String]? {
        var reader = JSONReader(bytes)
        guard reader.take("{") else { return nil }
        var members: [String: String] = [:]
        if !reader.take("}") {
            repeat {
                guard let name = reader.text(), reader.take(":"), let value = value(&reader) else { return nil }
                members[name] = value.text
            } while reader.take(",")
            guard reader.take("}") else { return nil }
        }
        reader.skipBlanks()
        return reader.rest.isEmpty ? members : nil
    }

    private static func value(_ reader: inout JSONReader) -> (text: String?, Void)? {
        reader.skipBlanks()
        if reader.rest.first == UInt8(ascii: "\"") { return reader.text().map { ($0, ()) } }
        return reader.word().map { ($0 == "null" ? nil : $0, ()) }
    }
}
