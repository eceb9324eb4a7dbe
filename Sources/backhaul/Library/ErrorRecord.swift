import CBackhaul

/// The error of a task, or of one attempt (run) of a task.
struct ErrorRecord {
    let status: bh_status
    let domain: Int32
    let detail: Int64
    let message: String?

    var isFailure: Bool { Int(status) != BH_OK }

    /// The error's message. Nil if there is no error.
    var sentence: String? { isFailure ? message ?? String(cString: bh_status_text(status)) : nil }
    var domainJSON: JSON { isFailure ? .string(Names.domain(domain)) : .null }
    var detailJSON: JSON { isFailure ? .integer(detail) : .null }
}
