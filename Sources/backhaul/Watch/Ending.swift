import CBackhaul

/// The result of a transfer, as `get` and `wait` report it.
struct Ending {
    let taskID: UInt64
    let url: String
    let path: String?
    /// A constant `BH_TASK_…`. Nil if another process acknowledged (deleted) the event about the end before this
    /// process read it.
    let state: Int32?
    let status: bh_status
    private(set) var errorMessage: String?
    let httpStatus: Int32
    let attempts: UInt32
    let size: UInt64
    /// The body of a response whose status reports a failure.
    let errorBody: [UInt8]?
    /// The body of the response to an upload, if this process read the end event.
    let responseBody: [UInt8]?
    /// Where a download of this command found its file, if it received no new file.
    let source: FileSource?

    init(_ event: EventRecord) {
        taskID = event.taskID
        url = event.url
        // The result has a path only after a success. If an upload does not succeed, `event.path` is the path of the
        // request body: the engine, which runs the transfers, had taken this file and gives it back.
        path = Int(event.state) == BH_TASK_SUCCEEDED ? event.path : nil
        state = event.state
        status = event.error.status
        errorMessage = event.error.sentence
        httpStatus = event.httpStatus
        attempts = event.attempts
        size = event.size
        errorBody = event.errorBody
        responseBody = event.responseBody
        source = event.source
    }

    init(_ task: TaskRecord) {
        taskID = task.id
        url = task.url
        path = Int(task.state) == BH_TASK_SUCCEEDED ? task.path ?? task.destination : nil
        state = task.state
        status = task.status
        errorMessage = task.errorMessage
        httpStatus = task.httpStatus
        attempts = task.attempts
        size = task.size ?? task.offset
        errorBody = nil
        responseBody = nil
        source = task.source
    }

    /// The result of a task that is missing in the list of tasks. The task is missing because another process
    /// acknowledged the event about the task's end.
    /// - Parameters:
    ///   - knownSize: The size of the complete file in the last listing.
    ///   - started: The start of the command in milliseconds since 1970. If the transfer replaces a file, and the file
    ///     at the path has not changed since the start, that file is the old one. If the transfer replaces no file, any
    ///     file at the path is the new one.
    init(acknowledgedElsewhere id: UInt64, _ transfer: Transfer?, knownSize: UInt64?, since started: Int64) {
        let file = transfer.flatMap { transfer in
            transfer.destination.flatMap { Paths.sizeOfFile($0, changedSince: transfer.replaces ? started : nil) }
        }
        let size = file.flatMap { knownSize == nil || knownSize == $0 ? $0 : nil }
        taskID = id
        url = transfer?.url ?? ""
        path = size == nil ? nil : transfer?.destination
        state = size == nil ? nil : Int32(BH_TASK_SUCCEEDED)
        status = bh_status(size == nil ? BH_NOT_FOUND : BH_OK)
        errorMessage = "Another process acknowledged the end of task \(id) before it was seen here."
        httpStatus = 0
        attempts = 0
        self.size = size ?? 0
        errorBody = nil
        responseBody = nil
        source = nil
    }

    /// Adds the error of the last attempt (run of the task) to the message of a time-out, because a time-out alone does
    /// not show its cause.
    /// - Parameter attempts: The attempts of the task.
    mutating func explain(by attempts: [AttemptRecord]) {
        guard Int(status) == BH_RESOURCE_TIMEOUT else { return }
        let last = attempts.last { $0.error.isFailure && Int($0.error.status) != BH_RESOURCE_TIMEOUT }
        guard let sentence = last?.error.sentence else { return }
        errorMessage = (errorMessage ?? String(cString: bh_status_text(status))) + "; the last attempt: " + sentence
    }

    var succeeded: Bool { state.map(Int.init) == BH_TASK_SUCCEEDED }
    var isCancelled: Bool { state.map(Int.init) == BH_TASK_CANCELLED }

    /// The error in words, such as
    /// "https://example.org/a: the server responded with status 403 (BH_HTTP_STATUS): the quota is used up"
    var failureSentence: String {
        let reason = errorMessage ?? String(cString: bh_status_text(status))
        return (url.isEmpty ? "" : url + ": ") + reason + " (" + String(cString: bh_status_name(status)) + ")"
            + (ErrorBody.line(errorBody ?? []).map { ": " + $0 } ?? "")
    }

    var json: JSON {
        .excerpt(of: bh_event.self, [
            ("task_id", .number(taskID)),
            ("task_state", .string(state.map { Names.taskState($0) } ?? "unknown")), ("status", .status(status)),
            ("http_status", .number(unlessZero: httpStatus)),
            ("error_message", succeeded ? .null : .optional(errorMessage)),
            ("url", url.isEmpty ? .null : .string(url)), ("path", .optional(path)), ("size", .number(size)),
            ("error_body", ErrorBody.text(errorBody).map { .string($0) } ?? .bytes(errorBody)),
            ("error_body_encoding", .optional(errorBody.map { ErrorBody.text($0) == nil ? "base64" : "utf-8" })),
            ("response_body", ErrorBody.text(responseBody).map { .string($0) } ?? .bytes(responseBody)),
            ("response_body_encoding", .optional(responseBody.map { ErrorBody.text($0) == nil ? "base64" : "utf-8" })),
            ("attempts", .number(attempts)),
        ])
    }
}
