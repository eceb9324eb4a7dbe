import CBackhaul

/// What an attempt or the end of a task reports beside its status.
struct ErrorRecord {
    let status: bh_status
    let domain: Int32
    let detail: Int64
    let message: String?

    var isFailure: Bool { Int(status) != BH_OK }

    /// Nil: there is no error.
    var sentence: String? { isFailure ? message ?? String(cString: bh_status_text(status)) : nil }
    var domainJSON: JSON { isFailure ? .string(Names.domain(domain)) : .null }
    var detailJSON: JSON { isFailure ? .integer(detail) : .null }
}
