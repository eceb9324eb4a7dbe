internal import BackhaulModel
internal import CBackhaul
internal import CBackhaulTables

// Unsafe: the names of the statuses are static.

/// A constant of include/backhaul.h and its value as decimal digits.
struct Constant {
    let name: String
    let value: String

    init(_ name: String, _ value: some BinaryInteger) {
        self.name = name
        self.value = String(value)
    }

    static let all = statuses + others

    private static let statuses = Status.allCases.map { status in
        Constant(bht_status_name(status.rawValue).map { String(cString: $0) } ?? "", status.rawValue)
    }

    private static let others = [
        Constant("BH_DOMAIN_NONE", BH_DOMAIN_NONE),
        Constant("BH_DOMAIN_SYSTEM", BH_DOMAIN_SYSTEM),
        Constant("BH_DOMAIN_CURL", BH_DOMAIN_CURL),
        Constant("BH_DOMAIN_SQLITE", BH_DOMAIN_SQLITE),
        Constant("BH_DOMAIN_HTTP", BH_DOMAIN_HTTP),
        Constant("BH_DOMAIN_PROCESS", BH_DOMAIN_PROCESS),
        Constant("BH_DEFAULT", BH_DEFAULT),
        Constant("BH_YES", BH_YES),
        Constant("BH_NO", BH_NO),
        Constant("BH_HOSTING_DEFAULT", BH_HOSTING_DEFAULT),
        Constant("BH_HOSTING_DAEMON", BH_HOSTING_DAEMON),
        Constant("BH_HOSTING_EMBEDDED", BH_HOSTING_EMBEDDED),
        Constant("BH_APPLICATION_OBSERVES", BH_APPLICATION_OBSERVES),
        Constant("BH_LAUNCH_NONE", BH_LAUNCH_NONE),
        Constant("BH_LAUNCH_DUE", BH_LAUNCH_DUE),
        Constant("BH_LAUNCH_RUNNING", BH_LAUNCH_RUNNING),
        Constant("BH_LAUNCH_LEFT_ALONE", BH_LAUNCH_LEFT_ALONE),
        Constant("BH_ROLE_CONSUME", BH_ROLE_CONSUME),
        Constant("BH_ROLE_PRODUCE", BH_ROLE_PRODUCE),
        Constant("BH_ROLE_OBSERVE", BH_ROLE_OBSERVE),
        Constant("BH_ROLE_CONSUME_WHEN_FREE", BH_ROLE_CONSUME_WHEN_FREE),
        Constant("BH_SESSION_CREATED", BH_SESSION_CREATED),
        Constant("BH_SESSION_ATTACHED", BH_SESSION_ATTACHED),
        Constant("BH_INVALIDATE_FINISH", BH_INVALIDATE_FINISH),
        Constant("BH_INVALIDATE_CANCEL", BH_INVALIDATE_CANCEL),
        Constant("BH_ATTENTION_EVENTS", BH_ATTENTION_EVENTS),
        Constant("BH_ATTENTION_FINISHED", BH_ATTENTION_FINISHED),
        Constant("BH_ATTENTION_CHALLENGE", BH_ATTENTION_CHALLENGE),
        Constant("BH_ATTENTION_YIELD", BH_ATTENTION_YIELD),
        Constant("BH_IF_EXISTS_FAIL", BH_IF_EXISTS_FAIL),
        Constant("BH_IF_EXISTS_REPLACE", BH_IF_EXISTS_REPLACE),
        Constant("BH_REQUEST_STARTS_SUSPENDED", BH_REQUEST_STARTS_SUSPENDED),
        Constant("BH_ENQUEUE_NOT_APPLIED", BH_ENQUEUE_NOT_APPLIED),
        Constant("BH_ENQUEUE_NEW", BH_ENQUEUE_NEW),
        Constant("BH_ENQUEUE_EXISTING", BH_ENQUEUE_EXISTING),
        Constant("BH_EVENT_TASK_ENDED", BH_EVENT_TASK_ENDED),
        Constant("BH_EVENT_SESSION_FINISHED", BH_EVENT_SESSION_FINISHED),
        Constant("BH_EVENT_CHALLENGE", BH_EVENT_CHALLENGE),
        Constant("BH_CHALLENGE_SERVER", BH_CHALLENGE_SERVER),
        Constant("BH_CHALLENGE_PROXY", BH_CHALLENGE_PROXY),
        Constant("BH_SCHEME_BASIC", BH_SCHEME_BASIC),
        Constant("BH_SCHEME_BEARER", BH_SCHEME_BEARER),
        Constant("BH_SCHEME_DIGEST", BH_SCHEME_DIGEST),
        Constant("BH_SCHEME_NEGOTIATE", BH_SCHEME_NEGOTIATE),
        Constant("BH_SCHEME_OTHER", BH_SCHEME_OTHER),
        Constant("BH_TASK_WAITING", BH_TASK_WAITING),
        Constant("BH_TASK_RUNNING", BH_TASK_RUNNING),
        Constant("BH_TASK_SUSPENDED", BH_TASK_SUSPENDED),
        Constant("BH_TASK_SUCCEEDED", BH_TASK_SUCCEEDED),
        Constant("BH_TASK_FAILED", BH_TASK_FAILED),
        Constant("BH_TASK_CANCELLED", BH_TASK_CANCELLED),
        Constant("BH_RESPOND_REFUSE", BH_RESPOND_REFUSE),
        Constant("BH_RESPOND_CREDENTIAL", BH_RESPOND_CREDENTIAL),
        Constant("BH_RESPOND_HEADERS", BH_RESPOND_HEADERS),
        Constant("BH_REASON_NONE", BH_REASON_NONE),
        Constant("BH_REASON_TURN", BH_REASON_TURN),
        Constant("BH_REASON_SUSPENDED", BH_REASON_SUSPENDED),
        Constant("BH_REASON_RETRY", BH_REASON_RETRY),
        Constant("BH_REASON_CONNECTING", BH_REASON_CONNECTING),
        Constant("BH_REASON_STALLED", BH_REASON_STALLED),
        Constant("BH_REASON_FINISHING", BH_REASON_FINISHING),
        Constant("BH_REASON_DISK_FULL", BH_REASON_DISK_FULL),
        Constant("BH_REASON_CREDENTIAL", BH_REASON_CREDENTIAL),

        Constant("BH_VERSION_MAJOR", BH_VERSION_MAJOR),
        Constant("BH_VERSION_MINOR", BH_VERSION_MINOR),
        Constant("BH_VERSION_PATCH", BH_VERSION_PATCH),
        Constant("BH_VERSION", bht_version()),
        Constant("BH_ERROR_MESSAGE_SIZE", BH_ERROR_MESSAGE_SIZE),
        Constant("BH_NO_INDEX", bht_no_index()),
        Constant("BH_WAIT_DEFAULT", BH_WAIT_DEFAULT),
        Constant("BH_WAIT_MAXIMUM", BH_WAIT_MAXIMUM),
        Constant("BH_URL_SIZE_MAXIMUM", BH_URL_SIZE_MAXIMUM),
        Constant("BH_USER_DATA_SIZE_MAXIMUM", BH_USER_DATA_SIZE_MAXIMUM),
        Constant("BH_HEADER_COUNT_MAXIMUM", BH_HEADER_COUNT_MAXIMUM),
        Constant("BH_HEADERS_SIZE_MAXIMUM", BH_HEADERS_SIZE_MAXIMUM),
        Constant("BH_ENQUEUE_COUNT_MAXIMUM", BH_ENQUEUE_COUNT_MAXIMUM),
        Constant("BH_SIZE_UNKNOWN", bht_size_unknown()),
    ]
}
