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

/// The options of a session that a request can replace: `bh_policy`. In a request, nil means that the session's value
/// applies. A session states each option that has a default.
public struct TaskPolicy: Equatable, Sendable {
    /// If this number of attempts in a row have stored no new byte, the task fails. Nil in a session: only the resource
    /// time-out limits the attempts.
    public var maximumAttempts: UInt32?
    public var firstRetryDelayMilliseconds: UInt32?
    public var longestRetryDelayMilliseconds: UInt32?
    public var retryJitterPercent: UInt32?
    public var retryErrors: RetryErrors?
    public var retriesUnsafeMethods: Bool?
    public var retryStatuses: StatusList?
    public var acceptedStatuses: StatusList?
    /// How many milliseconds may pass without a received or sent byte.
    public var requestTimeoutMilliseconds: UInt32?
    /// How many milliseconds a task may take from its enqueue to its end.
    public var resourceTimeoutMilliseconds: UInt64?
    public var httpVersion: HTTPVersion?
    public var redirects: RedirectPolicy?
    public var maximumRedirects: UInt32?
    /// The largest size of a file, in bytes. Nil in a session: no limit.
    public var maximumSize: UInt64?
    /// The accepted media types of a file. Nil in a session: all types.
    public var acceptedTypes: String?
    /// Whether a connection to a private address fails, such as an address of this machine or of a local network.
    public var refusesPrivateAddresses: Bool?
    public var resumableUploads: ResumableUploads?
    // How objects of S3 are found, and whose credentials are used (`S3Settings`).
    public var s3Endpoint: String?
    public var s3Region: String?
    public var s3Profile: String?
    public var s3CredentialCommand: String?
    public var s3PathStyle: Bool?
    /// In a request, the rate limit of its task. In a session, the limit of all its tasks together. Both limits apply.
    public var bytesPerSecond: UInt64?
    /// A request does not replace the session's constraints: of two values, the stricter one applies.
    public var constraints = Constraints()

    public init() {}

    /// Visits all fields except the constraints, which are stored in another table. There, tasks with equal constraints
    /// share one row.
    public mutating func visitFields<Visitor: FieldVisitor>(with visitor: inout Visitor) throws(Visitor.Problem) {
        try visitor.field(&maximumAttempts, "retry.maximum_attempts", 1...UInt64(UInt32.max))
        try visitor.field(&firstRetryDelayMilliseconds, "retry.first_delay_ms", default: 1_000, Limits.delay)
        try visitor.field(&longestRetryDelayMilliseconds, "retry.longest_delay_ms", default: 600_000, Limits.delay)
        try visitor.field(&retryJitterPercent, "retry.jitter_percent", default: 50, 1...100)
        try visitor.field(&retryErrors, "retry.errors", default: .standard)
        try visitor.field(&retriesUnsafeMethods, "retry.unsafe_methods", default: false)
        try visitor.field(&retryStatuses, "retry.statuses", default: .transient)
        try visitor.field(&acceptedStatuses, "rules.accepted_statuses", default: .successful)
        try visitor.field(&requestTimeoutMilliseconds, "rules.request_timeout_ms", default: 60_000, Limits.delay)
        try visitor.field(
            &resourceTimeoutMilliseconds, "rules.resource_timeout_ms", default: 604_800_000, Limits.resourceTimeout)
        try visitor.field(&httpVersion, "rules.http_version", default: .standard)
        try visitor.field(&redirects, "rules.redirects", default: .follow)
        try visitor.field(&maximumRedirects, "rules.maximum_redirects", default: 20, 1...100)
        try visitor.field(&maximumSize, "rules.maximum_size")
        try visitor.field(&acceptedTypes, "rules.accepted_types")
        try visitor.field(&refusesPrivateAddresses, "rules.refuses_private_addresses", default: false)
        try visitor.field(&resumableUploads, "rules.resumable_uploads", default: .automatic)
        try visitor.field(&s3Endpoint, "rules.s3_endpoint")
        try visitor.field(&s3Region, "rules.s3_region")
        try visitor.field(&s3Profile, "rules.s3_profile")
        try visitor.field(&s3CredentialCommand, "rules.s3_credential_command")
        try visitor.field(&s3PathStyle, "rules.s3_path_style")
        try visitor.field(&bytesPerSecond, "bytes_per_second")
    }

    /// A policy that states each option that has a default.
    public static let standard: TaskPolicy = {
        var policy = TaskPolicy()
        policy.fillDefaults()
        return policy
    }()

    /// States the default of each option that is not stated.
    public mutating func fillDefaults() {
        var defaults = Defaults()
        visitFields(with: &defaults)
    }

    private struct Defaults: FieldVisitor {
        typealias Problem = Never

        func visit<Value>(_ value: inout Value, _ option: Option<Value>) {}
        func visit<Value>(_ value: inout Value?, _ option: Option<Value>) { value = value ?? option.standard }
        func visit(_ headers: inout [HeaderField], _ name: String) {}
    }
}

/// The options that apply to one task: those that its request states, and those of the session for the rest.
@dynamicMemberLookup
public struct TransferPolicy: Equatable, Sendable {
    @usableFromInline var task: TaskPolicy
    @usableFromInline let session: TaskPolicy
    public var tolerances: Tolerances

    public init(_ session: SessionConfiguration, _ task: TaskPolicy = TaskPolicy()) {
        self.task = task
        self.session = session.policy
        tolerances = session.tolerances
    }

    /// Inlined, because the compiler then replaces the key path by a load. Otherwise a read costs 3,000 instructions.
    @inlinable @inline(__always)
    public subscript<Value>(dynamicMember option: WritableKeyPath<TaskPolicy, Value?>) -> Value {
        get { task[keyPath: option] ?? session.stated(option) }
        set { task[keyPath: option] = newValue }
    }

    // These options have no default.

    public var maximumAttempts: UInt32? {
        get { task.maximumAttempts ?? session.maximumAttempts }
        set { task.maximumAttempts = newValue }
    }

    public var maximumSize: UInt64? {
        get { task.maximumSize ?? session.maximumSize }
        set { task.maximumSize = newValue }
    }

    public var acceptedTypes: String? { task.acceptedTypes ?? session.acceptedTypes }

    public var bytesPerSecond: UInt64? { task.bytesPerSecond }

    public var s3: S3Settings { S3Settings(task, or: session) }
}

extension TaskPolicy {
    /// The value of an option that has a default, in the policy of a session.
    @inlinable @inline(__always)
    func stated<Value>(_ option: KeyPath<TaskPolicy, Value?>) -> Value {
        guard let value = self[keyPath: option] ?? TaskPolicy.standard[keyPath: option] else {
            // Cannot fail: `standard` states each option but those with a property of their own in `TransferPolicy`
            // and `SessionConfiguration`. A test compares the lists.
            preconditionFailure("an option without a default was read as one with a default")
        }
        return value
    }
}
