/// The version of HTTP that a task uses: `BH_HTTP_…`.
public enum HTTPVersion: Int32, Sendable, CaseIterable {
    case standard = 0
    case http1 = 1
    case http2 = 2
    case http2PriorKnowledge = 3
}

/// Which redirects a task follows: `BH_REDIRECTS_…`.
public enum RedirectPolicy: Int32, Sendable, CaseIterable {
    case follow = 1
    case sameOrigin = 2
    case none = 3
}

/// After which errors a task is retried: `BH_RETRY_…` bits.
public struct RetryErrors: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let name = RetryErrors(rawValue: 1)
    public static let connection = RetryErrors(rawValue: 2)
    public static let lost = RetryErrors(rawValue: 4)
    public static let timeout = RetryErrors(rawValue: 8)
    public static let tls = RetryErrors(rawValue: 16)
    public static let status = RetryErrors(rawValue: 32)
    public static let badResponse = RetryErrors(rawValue: 64)
    public static let nothing = RetryErrors(rawValue: 128)

    public static let standard: RetryErrors = [.name, .connection, .lost, .timeout, .tls, .status]
    public static let all: RetryErrors = [.standard, .badResponse, .nothing]
}

/// Faults of servers that are tolerated: `BH_TOLERATE_…` bits.
public struct Tolerances: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// If the end of a TLS connection ends a response body, the body counts as complete even without a close_notify
    /// (RFC 9112, section 9.8).
    public static let missingCloseNotify = Tolerances(rawValue: 1)
    /// A successful response to an upload counts even if it comes before the whole request body is sent.
    public static let earlyResponse = Tolerances(rawValue: 2)

    public static let all: Tolerances = [.missingCloseNotify, .earlyResponse]
}

/// The values with which a task (an upload or a download) replaces options of its session, a named collection of tasks:
/// `bh_policy`. Nil: the session's value applies.
public struct TaskPolicy: Equatable, Sendable {
    public var maximumAttempts: UInt32?
    public var firstRetryDelayMilliseconds: UInt32?
    public var longestRetryDelayMilliseconds: UInt32?
    public var retryJitterPercent: UInt32?
    public var retryErrors: RetryErrors?
    public var retriesUnsafeMethods: Bool?
    public var retryStatuses: StatusList?
    public var acceptedStatuses: StatusList?
    public var requestTimeoutMilliseconds: UInt32?
    public var resourceTimeoutMilliseconds: UInt64?
    public var httpVersion: HTTPVersion?
    public var redirects: RedirectPolicy?
    public var maximumRedirects: UInt32?
    public var maximumSize: UInt64?
    public var bytesPerSecond: UInt64?
    public var constraints = Constraints()

    public init() {}

    /// Visits all fields except the constraints, which are stored in another table. There, tasks with equal constraints
    /// share one row.
    public mutating func visitFields<Visitor: FieldVisitor>(with visitor: inout Visitor) throws(Visitor.Problem) {
        try visitor.field(&maximumAttempts, "maximum_attempts")
        try visitor.field(&firstRetryDelayMilliseconds, "first_retry_delay_ms")
        try visitor.field(&longestRetryDelayMilliseconds, "longest_retry_delay_ms")
        try visitor.field(&retryJitterPercent, "retry_jitter_percent")
        try visitor.field(&retryErrors, "retry_errors")
        try visitor.field(&retriesUnsafeMethods, "retries_unsafe_methods")
        try visitor.field(&retryStatuses, "retry_statuses")
        try visitor.field(&acceptedStatuses, "accepted_statuses")
        try visitor.field(&requestTimeoutMilliseconds, "request_timeout_ms")
        try visitor.field(&resourceTimeoutMilliseconds, "resource_timeout_ms")
        try visitor.field(&httpVersion, "http_version")
        try visitor.field(&redirects, "redirects")
        try visitor.field(&maximumRedirects, "maximum_redirects")
        try visitor.field(&maximumSize, "maximum_size")
        try visitor.field(&bytesPerSecond, "bytes_per_second")
    }
}

extension TaskPolicy {
    /// The policy that a session sets for each of its tasks. The session's rate limit is left out, because it applies
    /// to all tasks together. Constraints (demands on the system, such as external power) are left out, because a task
    /// cannot replace the constraints of its session. If the session and the task state the same constraint, the
    /// stricter value applies.
    public init(_ session: SessionConfiguration) {
        maximumAttempts = session.maximumAttempts
        firstRetryDelayMilliseconds = session.firstRetryDelayMilliseconds
        longestRetryDelayMilliseconds = session.longestRetryDelayMilliseconds
        retryJitterPercent = session.retryJitterPercent
        retryErrors = session.retryErrors
        retriesUnsafeMethods = session.retriesUnsafeMethods
        retryStatuses = session.retryStatuses
        acceptedStatuses = session.acceptedStatuses
        requestTimeoutMilliseconds = session.requestTimeoutMilliseconds
        resourceTimeoutMilliseconds = session.resourceTimeoutMilliseconds
        httpVersion = session.httpVersion
        redirects = session.redirects
        maximumRedirects = session.maximumRedirects
        maximumSize = session.maximumSize
    }
}

extension SessionConfiguration {
    /// Replaces the options for which the policy states a value.
    public mutating func apply(_ policy: TaskPolicy) {
        maximumAttempts = policy.maximumAttempts ?? maximumAttempts
        firstRetryDelayMilliseconds = policy.firstRetryDelayMilliseconds ?? firstRetryDelayMilliseconds
        longestRetryDelayMilliseconds = policy.longestRetryDelayMilliseconds ?? longestRetryDelayMilliseconds
        retryJitterPercent = policy.retryJitterPercent ?? retryJitterPercent
        retryErrors = policy.retryErrors ?? retryErrors
        retriesUnsafeMethods = policy.retriesUnsafeMethods ?? retriesUnsafeMethods
        retryStatuses = policy.retryStatuses ?? retryStatuses
        acceptedStatuses = policy.acceptedStatuses ?? acceptedStatuses
        requestTimeoutMilliseconds = policy.requestTimeoutMilliseconds ?? requestTimeoutMilliseconds
        resourceTimeoutMilliseconds = policy.resourceTimeoutMilliseconds ?? resourceTimeoutMilliseconds
        httpVersion = policy.httpVersion ?? httpVersion
        redirects = policy.redirects ?? redirects
        maximumRedirects = policy.maximumRedirects ?? maximumRedirects
        maximumSize = policy.maximumSize ?? maximumSize
    }
}

/// The options that apply to one task. If the task states a value, this value applies; otherwise, the session's value
/// applies.
public struct TransferPolicy: Equatable, Sendable {
    public var maximumAttempts: UInt32?
    public var firstRetryDelayMilliseconds: UInt32
    public var longestRetryDelayMilliseconds: UInt32
    public var retryJitterPercent: UInt32
    public var retryErrors: RetryErrors
    public var retriesUnsafeMethods: Bool
    public var retryStatuses: StatusList
    public var acceptedStatuses: StatusList
    public var requestTimeoutMilliseconds: UInt32
    public var resourceTimeoutMilliseconds: UInt64
    public var httpVersion: HTTPVersion
    public var redirects: RedirectPolicy
    public var maximumRedirects: UInt32
    public var maximumSize: UInt64?
    public var tolerances: Tolerances

    public init(_ session: SessionConfiguration, _ task: TaskPolicy = TaskPolicy()) {
        maximumAttempts = task.maximumAttempts ?? session.maximumAttempts
        firstRetryDelayMilliseconds = task.firstRetryDelayMilliseconds ?? session.firstRetryDelayMilliseconds
        longestRetryDelayMilliseconds = task.longestRetryDelayMilliseconds ?? session.longestRetryDelayMilliseconds
        retryJitterPercent = task.retryJitterPercent ?? session.retryJitterPercent
        retryErrors = task.retryErrors ?? session.retryErrors
        retriesUnsafeMethods = task.retriesUnsafeMethods ?? session.retriesUnsafeMethods
        retryStatuses = task.retryStatuses ?? session.retryStatuses
        acceptedStatuses = task.acceptedStatuses ?? session.acceptedStatuses
        requestTimeoutMilliseconds = task.requestTimeoutMilliseconds ?? session.requestTimeoutMilliseconds
        resourceTimeoutMilliseconds = task.resourceTimeoutMilliseconds ?? session.resourceTimeoutMilliseconds
        httpVersion = task.httpVersion ?? session.httpVersion
        redirects = task.redirects ?? session.redirects
        maximumRedirects = task.maximumRedirects ?? session.maximumRedirects
        maximumSize = task.maximumSize ?? session.maximumSize
        tolerances = session.tolerances
    }
}
