import Backhaul

/// A task of the report. A number that is not known is -1. `missing` is the number of bytes that were not transferred.
struct ReportTask {
    let info: TaskInfo
    let origin: Int64
    let session: Int64
    let error: Int64
    let reason: Int64
    let group: Int64
    let file: Int64
    /// The number of rows of the task in the table of attempts, and in the table of waits.
    var attemptRows: Int64 = 0
    var waitRows: Int64 = 0

    static func columns(base: Int64) -> [(name: String, value: (ReportTask) -> Int64)] {
        [
            ("id", { Int64(clamping: $0.info.id.rawValue) }), ("session", { $0.session }),
            ("kind", { Int64($0.info.kind.rawValue) }), ("state", { Int64($0.info.state.rawValue) }),
            ("origin", { $0.origin }), ("error", { $0.error }), ("reason", { $0.reason }), ("group", { $0.group }),
            ("file", { $0.file }),
            ("http_status", { Int64($0.info.httpStatus ?? -1) }),
            ("enqueued", { $0.info.enqueuedMilliseconds - base }),
            ("ended", { task in task.info.endedMilliseconds.map { $0 - task.info.enqueuedMilliseconds } ?? -1 }),
            ("done", { Int64(clamping: $0.info.done) }),
            (
                "missing",
                { task in task.info.total.map { Int64(clamping: $0) - Int64(clamping: task.info.done) } ?? -1 }
            ),
            ("attempts", { Int64($0.info.attempts) }),
            ("attempt_rows", { $0.attemptRows }), ("wait_rows", { $0.waitRows }),
        ]
    }
}

/// An attempt of the report. Its task is known from `ReportTask.attemptRows`.
struct ReportAttempt {
    let attempt: Attempt
    /// When the task was enqueued.
    let enqueued: Int64
    let origin: Int64
    let error: Int64
    let networkProtocol: Int64

    static var columns: [(name: String, value: (ReportAttempt) -> Int64)] {
        func time(_ path: KeyPath<Attempt, Duration?>) -> (ReportAttempt) -> Int64 {
            { $0.attempt[keyPath: path]?.microseconds ?? -1 }
        }
        return [
            ("number", { Int64($0.attempt.number) }), ("next", { $0.next }), ("origin", { $0.origin }),
            ("error", { $0.error }), ("protocol", { $0.networkProtocol }),
            ("http_status", { Int64($0.attempt.httpStatus ?? -1) }),
            ("started", { $0.attempt.startedMilliseconds - $0.enqueued }),
            ("domain_lookup", time(\.domainLookup)), ("connect", time(\.connect)),
            ("secure_connection", time(\.secureConnection)), ("request_start", time(\.requestStart)),
            // Only uploads need it.
            ("request_end", { $0.attempt.requestBodyBytes > 0 ? $0.attempt.requestEnd?.microseconds ?? -1 : -1 }),
            ("response_start", time(\.responseStart)),
            ("response_end", time(\.responseEnd)), ("offset", { Int64(clamping: $0.attempt.offset) }),
            ("received", { Int64(clamping: $0.attempt.responseBodyBytes) }),
            ("sent", { Int64(clamping: $0.attempt.requestBodyBytes) }),
            ("redirects", { Int64($0.attempt.redirects) }),
            ("connection", { ($0.attempt.isReusedConnection ? 1 : 0) + ($0.attempt.isProxyConnection ? 2 : 0) }),
        ]
    }

    /// What followed, as in `bh_next_step`.
    private var next: Int64 {
        switch attempt.next {
        case .end: 1
        case .retry: 2
        case .challenge: 3
        case .stopped: 4
        case .running: 5
        }
    }
}

/// All waits of a task for one reason.
struct ReportWait {
    let reason: Int64
    /// When the first of the waits began, and when the last one ended, after the enqueue of the task.
    let began: Int64
    var ended: Int64
    /// The sum of the waits.
    var duration: Int64
    var count: Int64

    static var columns: [(name: String, value: (ReportWait) -> Int64)] {
        [
            ("reason", { $0.reason }), ("began", { $0.began }), ("ended", { $0.ended }),
            ("duration", { $0.duration }), ("count", { $0.count }),
        ]
    }
}

/// A period in which at least one task waited for a reason.
struct ReportPeriod: Equatable {
    let reason: Int64
    var began: Int64
    var ended: Int64

    static func columns(base: Int64) -> [(name: String, value: (ReportPeriod) -> Int64)] {
        [("reason", { $0.reason }), ("began", { $0.began - base }), ("ended", { $0.ended - base })]
    }

    /// Joins the periods of each reason whose gaps are shorter than `gap`.
    static func joined(_ periods: [ReportPeriod], gap: Int64) -> [ReportPeriod] {
        var result: [ReportPeriod] = []
        for period in periods.sorted(by: { ($0.reason, $0.began) < ($1.reason, $1.began) }) {
            if let last = result.last, last.reason == period.reason, period.began - last.ended <= gap {
                result[result.count - 1].ended = max(last.ended, period.ended)
            } else {
                result.append(period)
            }
        }
        return result
    }
}
