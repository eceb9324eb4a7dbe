internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that its header fields can be read until the call returns. All of them are copied here.

/// Reads arrays of `bh_header`.
enum HeaderArgument {
    static func read(_ headers: UnsafePointer<bh_header>?, _ count: Int) throws(Failure) -> [HeaderField] {
        let array = try NumberArgument.array(
            headers, "headers", count: count, "header_count", limit: Limits.headerCount)
        var fields: [HeaderField] = []
        for header in array {
            let name = try TextArgument.required(header.name, "a header's name", limit: Limits.headersSize)
            let value = try TextArgument.bounded(
                NumberArgument.required(header.value, "the value of header \(name)"), "the value of header \(name)",
                limit: Limits.headersSize)
            fields.append(HeaderField(name, value))
        }
        return fields
    }
}
