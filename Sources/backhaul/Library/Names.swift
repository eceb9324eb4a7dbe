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
                (BH_REASON_CREDENTIAL, "credential"),
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
                (BH_EVENT_CHALLENGE, "challenge"),
            ])
    }

    static func challengeKind(_ value: Int32) -> String {
        name(value, [(BH_CHALLENGE_SERVER, "server"), (BH_CHALLENGE_PROXY, "proxy")])
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
