import CBackhaul

/// The error of a task, or of one attempt (run) of a task.
struct ErrorRecord {
    let status: bh_status
    let domain: Int32
    let detail: Int64
    let message: String?

    init(status: bh_status, domain: Int32, detail: Int64, message: String?) {
        self.status = status
        self.domain = domain
        self.detail = detail
        self.message = message.map(OptionNaming.spoken)
    }

    var isFailure: Bool { Int(status) != BH_OK }

    /// The error's message. Nil if there is no error.
    var sentence: String? { isFailure ? message ?? String(cString: bh_status_text(status)) : nil }
    var domainJSON: JSON { isFailure ? .string(Names.domain(domain)) : .null }
    var detailJSON: JSON { isFailure ? .integer(detail) : .null }
}
