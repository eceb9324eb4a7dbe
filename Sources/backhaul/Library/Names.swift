import CBackhaul

/// The names of the C header's constants in JSON and in tables. Most of them are the header's names in lower case.
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
                (BH_REASON_NONE, "none"), (BH_REASON_SLOT, "slot"), (BH_REASON_SUSPENDED, "suspended"),
                (BH_REASON_RETRY, "retry"), (BH_REASON_CONNECTING, "connecting"), (BH_REASON_STALLED, "stalled"),
                (BH_REASON_FINISHING, "finishing"), (BH_REASON_DISK_FULL, "disk_full"),
                (BH_REASON_CREDENTIAL, "credential"), (BH_REASON_CONNECTIVITY, "connectivity"),
                (BH_REASON_RATE, "rate"), (BH_REASON_POWER, "power"), (BH_REASON_BATTERY, "battery"),
                (BH_REASON_HEAT, "heat"), (BH_REASON_PRESSURE, "pressure"), (BH_REASON_METERED, "metered"),
                (BH_REASON_NETWORK, "network"), (BH_REASON_THROUGHPUT, "throughput"),
                (BH_REASON_EARLIEST_START, "earliest_start"), (BH_REASON_QUIET_HOURS, "quiet_hours"),
                (BH_REASON_BUDGET, "budget"), (BH_REASON_SLEEP, "sleep"), (BH_REASON_PORTAL, "portal"),
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
                (BH_EVENT_ACTIVITY, "activity"),
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
        ("bad_response", BH_RETRY_BAD_RESPONSE), ("none", BH_RETRY_NONE),
    ]

    static let tolerances = [
        ("missing-close-notify", BH_TOLERATE_MISSING_CLOSE_NOTIFY), ("early-response", BH_TOLERATE_EARLY_RESPONSE),
    ]

    static let httpVersions = [
        ("default", BH_HTTP_DEFAULT), ("http1.1", BH_HTTP_1_1), ("http2", BH_HTTP_2),
        ("http2-prior-knowledge", BH_HTTP_2_PRIOR_KNOWLEDGE),
    ]

    static let tlsVersions = [("tlsv1.2", BH_TLS_1_2), ("tlsv1.3", BH_TLS_1_3)]

    static let redirects = [
        ("follow", BH_REDIRECTS_FOLLOW), ("same_origin", BH_REDIRECTS_SAME_ORIGIN), ("none", BH_REDIRECTS_NONE),
    ]

    static let presets = [
        ("none", BH_PRESET_DEFAULT), ("discretionary", BH_PRESET_DISCRETIONARY), ("overnight", BH_PRESET_OVERNIGHT),
    ]

    static let networks = [
        ("ethernet", BH_NETWORK_ETHERNET), ("wifi", BH_NETWORK_WIFI), ("cellular", BH_NETWORK_CELLULAR),
        ("bluetooth", BH_NETWORK_BLUETOOTH), ("tunnel", BH_NETWORK_TUNNEL), ("other", BH_NETWORK_OTHER),
    ]

    /// The values of `--maximum-heat`. "critical" is no value of the option, because no task runs on a machine that is
    /// critically hot.
    static let heatLimits = [
        ("nominal", BH_THERMAL_NOMINAL), ("fair", BH_THERMAL_FAIR), ("serious", BH_THERMAL_SERIOUS),
    ]

    static let qualities = [
        ("background", BH_QUALITY_BACKGROUND), ("utility", BH_QUALITY_UTILITY),
        ("user_initiated", BH_QUALITY_USER_INITIATED),
    ]

    static func condition(_ value: Int32) -> String {
        name(
            value,
            [
                (BH_CONDITION_EXTERNAL_POWER, "external_power"), (BH_CONDITION_BATTERY, "battery"),
                (BH_CONDITION_THERMAL_STATE, "thermal_state"), (BH_CONDITION_CPU_PRESSURE, "cpu_pressure"),
                (BH_CONDITION_IO_PRESSURE, "io_pressure"), (BH_CONDITION_MEMORY_PRESSURE, "memory_pressure"),
                (BH_CONDITION_NETWORK, "network"), (BH_CONDITION_METERED, "metered"),
                (BH_CONDITION_CONNECTIVITY, "connectivity"), (BH_CONDITION_SLEEP, "sleep"),
                (BH_CONDITION_THROUGHPUT, "throughput"),
            ])
    }

    static let cookies = [
        ("none", BH_COOKIES_NONE), ("memory", BH_COOKIES_MEMORY), ("persistent", BH_COOKIES_PERSISTENT),
    ]

    /// The word for a number in a table of words.
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
                (BH_ATTENTION_ACTIVITY, "activity"),
            ])
    }

    static func launchState(_ value: Int32) -> String {
        name(
            value,
            [
                (BH_LAUNCH_NONE, "none"), (BH_LAUNCH_DUE, "due"), (BH_LAUNCH_RUNNING, "running"),
                (BH_LAUNCH_GAVE_UP, "gave_up"),
            ])
    }

    private static func names(_ bits: UInt32, _ table: [(Int, String)]) -> [String] {
        table.filter { Int(bits) & $0.0 != 0 }.map { $0.1 }
    }

    private static func name(_ value: Int32, _ table: [(Int, String)]) -> String {
        table.first { $0.0 == Int(value) }?.1 ?? "unknown_\(value)"
    }
}
