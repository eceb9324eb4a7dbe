import Backhaul
import struct BackhaulModel.ShownURL

extension Event {
    /// The event as JSON. A member that this kind of event does not have is null.
    var json: JSON {
        var end: TaskEnding?
        var group: GroupEnding?
        var challenge: Challenge?
        var activity: String?
        let (kind, round, time): (String, UInt64, Int64)
        switch self {
        case .taskEnded(let ending):
            end = ending
            (kind, round, time) = ("task_ended", ending.round, ending.timeMilliseconds)
        case .sessionFinished(let ending):
            (kind, round, time) = ("session_finished", ending.round, ending.timeMilliseconds)
        case .challenge(let event):
            challenge = event.challenge
            (kind, round, time) = ("challenge", event.round, event.timeMilliseconds)
        case .groupFinished(let ending):
            group = ending
            (kind, round, time) = ("group_finished", ending.round, ending.timeMilliseconds)
        case .activity(let event):
            activity = event.activity
            (kind, round, time) = ("activity", event.round, event.timeMilliseconds)
        case .unknown(_, let number):
            (kind, round, time) = ("unknown_\(number)", 0, 0)
        }
        return .record(
            "bh_event",
            [
                ("id", .id(id)), ("time_ms", .number(time)), ("round", .number(round)), ("task_id", .id(end?.taskID)),
                ("kind", .string(kind)), ("task_kind", .word(unlessNil: end?.kind)),
                ("task_state", .word(unlessNil: end?.state)), ("status", end.map { .status($0.error) } ?? .null),
                ("error_domain", .word(unlessNil: end?.error?.domain)), ("http_status", .number(end?.httpStatus)),
                ("error_detail", .number(end?.error?.detail)), ("error_message", .optional(end?.error?.spoken.message)),
                ("url", .optional(end?.url)), ("final_url", .optional(end?.shownFinalURL)),
                ("path", .optional(end?.path ?? end?.bodyPath)), ("media_type", .optional(end?.mediaType)),
                ("checksum", .optional(end?.checksum)), ("idempotency_key", .optional(end?.idempotencyKey)),
                ("user_data", .bytes(end?.userData)), ("size", .number(end?.size)),
                ("bytes_received", .number(end?.bytesReceived)), ("bytes_sent", .number(end?.bytesSent)),
                ("headers", end.map { .array($0.headers.map(\.json)) } ?? .null),
                ("error_body", .bytes(end?.errorBody)), ("response_body", .bytes(end?.responseBody)),
                ("attempts", .number(end?.attempts)), ("challenge", challenge?.json ?? .null),
                ("group", .optional(end?.group ?? group?.group)), ("group_succeeded", .number(group?.succeeded)),
                ("group_failed", .number(group?.failed)), ("group_cancelled", .number(group?.cancelled)),
                ("activity", .optional(activity)),
            ])
    }
}

extension TaskEnding {
    /// The target of a redirect may be a signed link, so its query is not shown.
    fileprivate var shownFinalURL: String? {
        finalURL.map { $0 == url ? $0 : ShownURL($0).withoutQuery }
    }
}

extension Header {
    fileprivate var json: JSON { .record("bh_header", [("name", .string(name)), ("value", .string(value))]) }
}
