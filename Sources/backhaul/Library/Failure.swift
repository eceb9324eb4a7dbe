import CBackhaul

/// An error that a call of the library reported.
struct Failure: Error {
    let status: bh_status
    let domain: Int32
    let detail: Int64
    /// The index of the first invalid item in an array argument.
    let index: Int?
    let message: String

    init(status: bh_status, domain: Int32, detail: Int64, index: Int?, message: String) {
        (self.status, self.domain, self.detail, self.index) = (status, domain, detail, index)
        self.message = message
    }

    /// An error that the command itself found.
    init(_ code: ExitCode, _ message: String) {
        self.init(status: code.status, domain: Int32(BH_DOMAIN_NONE), detail: 0, index: nil, message: message)
    }

    func `is`(_ code: Int) -> Bool { Int(status) == code }

    var statusName: String { String(cString: bh_status_name(status)) }

    var exitCode: ExitCode { ExitCode(Int(status)) }

    /// The same error with another message.
    func withMessage(_ message: String) -> Failure {
        Failure(status: status, domain: domain, detail: detail, index: index, message: message)
    }

    var json: JSON {
        .record(of: bh_error.self, [
            ("status", .string(statusName)), ("domain", .string(Names.domain(domain))), ("detail", .integer(detail)),
            ("index", index.map { .unsigned(UInt64($0)) } ?? .null), ("message", .string(message)),
        ])
    }
}

// Unsafe: the call fills the error, which is read before this function returns.
/// Calls the library, and throws the error that the call reports.
func check(_ body: (UnsafeMutablePointer<bh_error>) -> bh_status) throws(Failure) {
    var error = bh_error()
    error.struct_size = MemoryLayout<bh_error>.size
    error.index = UInt64.max
    let status = body(&error)
    guard Int(status) != BH_OK else { return }
    // If the call timed out before the engine (the process that runs the transfers) replied, the error has a ticket.
    // With this ticket, the reply could be read later. No command uses that ticket.
    bh_ticket_release(error.ticket)
    let text = withUnsafeBytes(of: error.message) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let message = OptionNaming.spoken(text)
    throw Failure(
        status: status, domain: error.domain, detail: error.detail,
        index: error.index == UInt64.max ? nil : Int(exactly: error.index),
        message: message.isEmpty ? String(cString: bh_status_text(status)) : message)
}
