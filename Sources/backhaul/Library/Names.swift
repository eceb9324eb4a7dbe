import CBackhaul

/// The header's constants as the JSON documents and the tables spell them: its names in lower case.
enum Names {
    static let taskStates: [(Int, String)] = [
        (BH_TASK_WAITING, "waiting"), (BH_TASK_RUNNING, "running"), (BH_TASK_SUSPENDED, "suspended"),
        (BH_TASK_SUCCEEDED, "succeeded"), (BH_TASK_FAILED, "failed"), (BH_TASK_CANCELLED, "cancelled"),
    ]

    static func taskState(_ value: Int32) -> String { name(value, taskStates) }

    static func reason(_ value: Int32) -> String {
        name(
            value,
            [
                (BH_REASON_NONE, "none"), (BH_REASON_TURN, "turn"), (BH_REASON_SUSPENDED, "suspended"),
                (BH_REASON_RETRY, "retry"), (BH_REASON_CONNECTING, "connecting"), (BH_REASON_STALLED, "stalled"),
                (BH_REASON_FINISHING, "finishing"), (BH_REASON_DISK_FULL, "disk_full"),
                (BH_REASON_CREDENTIAL, "credential"), (BH_REASON_CONNECTIVITY, "connectivity"),
                (BH_REASON_RATE, "rate"),
            ])
    }

    static func domain(_ value: Int32) -> String {
        name(
            value,
            [
                (BH_DOMAIN_NONE, "none"), (BH_DOMAIN_SYSTEM, "system"), (BH_DOMAIN_CURL, "curl"),
                (BH_DOMAIN_SQLITE, "sqlite"), (BH_DOMAIN_HTTP, "http"), (BH_DOMAIN_PROCESS, "process"),
            ])
    }

    static func eventKind(_ value: Int32) -> String {
        name(
            value,
            [
                (BH_EVENT_TASK_ENDED, "task_ended"), (BH_EVENT_SESSION_FINISHED, "session_finished"),
                (BH_EVENT_CHALLENGE, "challenge"), (BH_EVENT_GROUP_FINISHED, "group_finished"),
            ])
    }

    static func challengeKind(_ value: Int32) -> String {
        name(
            value,
            [(BH_CHALLENGE_SERVER, "server"), (BH_CHALLENGE_PROXY, "proxy"), (BH_CHALLENGE_REFRESH, "refresh")])
    }

    static func taskKind(_ value: Int32) -> String {
        name(value, [(BH_TASK_KIND_DOWNLOAD, "download"), (BH_TASK_KIND_UPLOAD, "upload")])
    }

    static func next(_ value: Int32) -> String {
        name(
            value,
            [
                (BH_NEXT_END, "end"), (BH_NEXT_RETRY, "retry"), (BH_NEXT_CHALLENGE, "challenge"),
                (BH_NEXT_STOPPED, "stopped"),
            ])
    }

    static let retryErrors = [
        ("name", BH_RETRY_NAME), ("connection", BH_RETRY_CONNECTION), ("lost", BH_RETRY_LOST),
        ("timeout", BH_RETRY_TIMEOUT), ("tls", BH_RETRY_TLS), ("status", BH_RETRY_STATUS),
        ("bad_response", BH_RETRY_BAD_RESPONSE), ("nothing", BH_RETRY_NOTHING),
    ]

    static let httpVersions = [
        ("default", BH_HTTP_DEFAULT), ("http1.1", BH_HTTP_1_1), ("http2", BH_HTTP_2),
        ("http2-prior-knowledge", BH_HTTP_2_PRIOR_KNOWLEDGE),
    ]

    static let redirects = [
        ("follow", BH_REDIRECTS_FOLLOW), ("same_origin", BH_REDIRECTS_SAME_ORIGIN), ("none", BH_REDIRECTS_NONE),
    ]

    static let cookies = [
        ("none", BH_COOKIES_NONE), ("memory", BH_COOKIES_MEMORY), ("persistent", BH_COOKIES_PERSISTENT),
    ]

    /// The word for a number in a table of an option's words.
    static func word(_ value: Int32, _ table: [(String, Int)]) -> String {
        name(value, table.map { ($0.1, $0.0) })
    }

    static func words(_ bits: UInt32, _ table: [(String, Int)]) -> [String] {
        names(bits, table.map { ($0.1, $0.0) })
    }

    static func schemes(_ bits: UInt32) -> [String] {
        names(
            bits,
            [
                (BH_SCHEME_BASIC, "basic"), (BH_SCHEME_BEARER, "bearer"), (BH_SCHEME_DIGEST, "digest"),
                (BH_SCHEME_NEGOTIATE, "negotiate"), (BH_SCHEME_OTHER, "other"),
            ])
    }

    static func attention(_ bits: UInt32) -> [String] {
        names(
            bits,
            [
                (BH_ATTENTION_EVENTS, "events"), (BH_ATTENTION_FINISHED, "finished"),
                (BH_ATTENTION_CHALLENGE, "challenge"), (BH_ATTENTION_YIELD, "yield"),
            ])
    }

    static func launchState(_ value: Int32) -> String {
        name(
            value,
            [
                (BH_LAUNCH_NONE, "none"), (BH_LAUNCH_DUE, "due"), (BH_LAUNCH_RUNNING, "running"),
                (BH_LAUNCH_LEFT_ALONE, "left_alone"),
            ])
    }

    private static func names(_ bits: UInt32, _ table: [(Int, String)]) -> [String] {
        table.filter { Int(bits) & $0.0 != 0 }.map { $0.1 }
    }

    private static func name(_ value: Int32, _ table: [(Int, String)]) -> String {
        table.first { $0.0 == Int(value) }?.1 ?? "unknown_\(value)"
    }
}
