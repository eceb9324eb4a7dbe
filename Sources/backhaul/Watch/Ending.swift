import Backhaul

/// The result of a transfer, as `get` and `wait` report it.
struct Ending {
    /// 0 if the transfer was skipped.
    let taskID: TaskID
    let url: String
    let path: String?
    /// Nil if another process acknowledged the event about the end before this process read it.
    let state: TaskState?
    /// Why the transfer did not succeed.
    private(set) var error: BackhaulError?
    let httpStatus: Int?
    let attempts: Int
    let size: UInt64
    /// The body of a response whose status reports a failure.
    let errorBody: [UInt8]?
    /// The body of the response to an upload, if this process read the end event.
    let responseBody: [UInt8]?
    /// Where a download of this command found its file, if it received no new file.
    let source: FileSource?

    /// - Parameter destination: The path of a file whose path is not in the ending.
    init(_ ending: TaskEnding, destination: String? = nil) {
        taskID = ending.taskID
        url = ending.url
        path = ending.state == .succeeded ? ending.path ?? destination : nil
        state = ending.state
        error = ending.error?.spoken
        httpStatus = ending.httpStatus
        attempts = ending.attempts
        size = ending.kind == .upload ? ending.bytesSent : ending.size
        errorBody = ending.errorBody
        responseBody = ending.responseBody
        source = ending.source
    }

    init(_ task: TaskInfo) { self.init(TaskEnding(task), destination: task.destination) }

    /// The result of a task that is missing in the list of tasks. The task is missing because another process
    /// acknowledged the event about the task's end.
    /// - Parameters:
    ///   - knownSize: The size of the complete file in the last listing.
    ///   - started: The start of the command in milliseconds since 1970. If the transfer replaces a file, and the file
    ///     at the path has not changed since the start, that file is the old one. If the transfer replaces no file, any
    ///     file at the path is the new one.
    init(acknowledgedElsewhere id: TaskID, _ transfer: Transfer?, knownSize: UInt64?, since started: Int64) {
        let file = transfer.flatMap { transfer in
            transfer.destination.flatMap { Paths.sizeOfFile($0, changedSince: transfer.replaces ? started : nil) }
        }
        let size = file.flatMap { knownSize == nil || knownSize == $0 ? $0 : nil }
        taskID = id
        url = transfer?.url ?? ""
        path = size == nil ? nil : transfer?.destination
        state = size == nil ? nil : .succeeded
        error =
            size != nil
            ? nil
            : BackhaulError(
                .notFound, message: "Another process acknowledged the end of task \(id) before it was seen here.")
        self.size = size ?? 0
        (httpStatus, attempts, errorBody, responseBody, source) = (nil, 0, nil, nil, nil)
    }

    /// - Parameter transfer: A transfer that was not enqueued, because its file exists.
    init(skipped transfer: Transfer) {
        taskID = TaskID(rawValue: 0)
        url = transfer.url
        path = transfer.destination
        size = transfer.destination.flatMap(Paths.file)?.size ?? 0
        (state, error, httpStatus, attempts, errorBody, responseBody, source) = (nil, nil, nil, 0, nil, nil, nil)
    }

    private var isSkipped: Bool { taskID.rawValue == 0 }

    /// Adds the error of the last attempt to the message of a time-out, because a time-out alone does not show its
    /// cause.
    /// - Parameter attempts: The attempts of the task.
    mutating func explain(by attempts: [Attempt]) {
        guard let error, error.status == .resourceTimeout else { return }
        let errors = attempts.compactMap(\.error).filter { $0.status != .resourceTimeout }
        guard let last = errors.last else { return }
        self.error = error.withMessage(error.message + "; the last attempt: " + last.spoken.message)
    }

    var succeeded: Bool { state == .succeeded }
    var isCancelled: Bool { state == .cancelled }

    /// The error in words, such as
    /// "https://example.org/a: the server responded with status 403 (BH_HTTP_STATUS): the quota is used up"
    var failureSentence: String {
        (url.isEmpty ? "" : url + ": ") + (error?.description ?? "")
            + (ErrorBody.line(errorBody ?? []).map { ": " + $0 } ?? "") + (hint.map { "; " + $0 } ?? "")
    }

    /// What to do about an error that is often a mistake of the command line.
    private var hint: String? {
        if httpStatus == 404, url.contains("{") && url.contains(",") || url.contains("[") && url.contains("-") {
            return "the shell expands {1..3} and {a,b} in a URL without quotes; `backhaul` does not"
        }
        // A server with TLS answers a plain request with a page about the mistake, or closes the connection.
        let page = ErrorBody.text(errorBody)?.lowercased() ?? ""
        guard URLArgument.isUnencrypted(url),
            httpStatus == 400 ? page.contains("https") : error?.status == .connectionLost && size == 0
        else { return nil }
        return "perhaps this server speaks TLS: write https://"
    }

    var json: JSON {
        .excerpt(
            "bh_event",
            [
                ("task_id", .id(isSkipped ? nil : taskID)),
                ("task_state", isSkipped ? .string("skipped") : .word(state)), ("status", .status(error)),
                ("http_status", .number(httpStatus)), ("error_message", .optional(error?.message)),
                ("url", .optional(url.unlessEmpty)), ("path", .optional(path)), ("size", .number(size)),
                ("error_body", ErrorBody.text(errorBody).map { .string($0) } ?? .bytes(errorBody)),
                ("error_body_encoding", .optional(errorBody.map { ErrorBody.text($0) == nil ? "base64" : "utf-8" })),
                ("response_body", ErrorBody.text(responseBody).map { .string($0) } ?? .bytes(responseBody)),
                (
                    "response_body_encoding",
                    .optional(responseBody.map { ErrorBody.text($0) == nil ? "base64" : "utf-8" })
                ),
                ("attempts", .number(attempts)),
            ])
    }
}
