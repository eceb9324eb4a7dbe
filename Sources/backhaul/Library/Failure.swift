import CBackhaul

/// What a call of the library reported.
struct Failure: Error {
    let status: bh_status
    let domain: Int32
    let detail: Int64
    /// The first item of an array argument that was wrong.
    let index: Int?
    let message: String

    func `is`(_ code: Int) -> Bool { Int(status) == code }

    var statusName: String { String(cString: bh_status_name(status)) }

    var exitCode: ExitCode { ExitCode(Int(status)) }

    /// The same with another sentence.
    func saying(_ message: String) -> Failure {
        Failure(status: status, domain: domain, detail: detail, index: index, message: message)
    }

    var json: JSON {
        .record(of: bh_error.self, [
            ("status", .string(statusName)), ("domain", .string(Names.domain(domain))), ("detail", .integer(detail)),
            ("index", index.map { .unsigned(UInt64($0)) } ?? .null), ("message", .string(message)),
        ])
    }
}

// Unsafe: the error is filled by the call and read before this returns.
/// Calls the library and throws what it reports.
func check(_ body: (UnsafeMutablePointer<bh_error>) -> bh_status) throws(Failure) {
    var error = bh_error()
    error.struct_size = MemoryLayout<bh_error>.size
    error.index = UInt64.max
    let status = body(&error)
    guard Int(status) != BH_OK else { return }
    // The commands start their verbs and keep the tickets themselves; this one would be a second.
    bh_ticket_release(error.ticket)
    let text = withUnsafeBytes(of: error.message) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let message = OptionWords.spoken(text)
    throw Failure(
        status: status, domain: error.domain, detail: error.detail,
        index: error.index == UInt64.max ? nil : Int(exactly: error.index),
        message: message.isEmpty ? String(cString: bh_status_text(status)) : message)
}
