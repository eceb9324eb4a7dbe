import Backhaul

extension TaskInfo {
    /// Why the task waits. Nil if it does not wait, or if the reason is from a newer version of the library.
    var waitsFor: WaitingReason.Code? { reason?.code }
    var reasonText: String? { reason.flatMap { $0.text.isEmpty ? nil : OptionNaming.spoken($0.text) } }
    var errorMessage: String? { error?.spoken.message }
    /// When the next attempt or check is due, as Unix time in milliseconds.
    var nextAttempt: Int64? { reason?.nextAttemptMilliseconds }

    var isUpload: Bool { kind == .upload }
    var hasEnded: Bool { state.hasEnded }

    /// The received bytes of a download, or the sent bytes of an upload.
    var done: UInt64 { isUpload ? bodySent : offset }
    /// The size of the file or body in bytes. Nil if the size is not known yet.
    var total: UInt64? { isUpload ? (bodySize > 0 || hasEnded ? bodySize : nil) : size }

    /// Where a successful download found its file, if it received no new file.
    var source: FileSource? { hasEnded ? TaskEnding(self).source : nil }

    var json: JSON {
        .record(
            "bh_task_info",
            [
                ("id", .id(id)), ("round", .number(round)), ("kind", .word(kind)), ("state", .word(state)),
                ("reason", reason.map { .word($0.code) } ?? .null), ("status", .status(error)),
                ("reason_text", .optional(reasonText)), ("error_message", .optional(errorMessage)),
                ("next_attempt_ms", .number(nextAttempt)), ("url", .string(url)),
                ("destination", .optional(destination)),
                ("path", .optional(path)), ("idempotency_key", .optional(idempotencyKey)), ("group", .optional(group)),
                ("user_data", .bytes(userData)), ("priority", .number(priority)), ("http_status", .number(httpStatus)),
                ("attempts", .number(attempts)), ("offset", .number(offset)), ("size", .number(size)),
                ("body_sent", .number(bodySent)), ("body_size", .number(bodySize)),
                ("bytes_per_second", .number(bytesPerSecond)), ("enqueued_ms", .number(enqueuedMilliseconds)),
                ("ended_ms", .number(endedMilliseconds)), ("earliest_start_ms", .number(earliestStartMilliseconds)),
                ("latest_start_ms", .number(latestStartMilliseconds)),
                ("expected_bytes_received", .number(expectedBytesReceived)),
                ("expected_bytes_sent", .number(expectedBytesSent)),
                ("constraints", constraints == Constraints() ? .null : constraints.json),
                ("rate_limit", .number(rateLimit)),
            ])
    }
}
