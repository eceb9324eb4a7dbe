internal import CBackhaul

/// Version of HTTP.
public enum HTTPVersion: Int32, Hashable, Sendable {
    case http1_1 = 1
    /// Over TLS if the server supports it; without TLS by an upgrade from 1.1 (RFC 7540, section 3.2).
    case http2 = 2
    /// Without negotiation, also without TLS (RFC 9113, section 3.3).
    case http2PriorKnowledge = 3
}

/// Which redirects are followed (RFC 9110, section 15.4). None leads from https to http.
public enum RedirectPolicy: Int32, Hashable, Sendable {
    case follow = 1
    /// Others fail with `.redirectRefused`.
    case sameOrigin = 2
    /// A redirect is a response like any other, accepted or not by its status.
    case none = 3
}

/// What is accepted from a server, and for how long it is waited for. Nil stands for the default: of a request, what
/// its session says.
public struct TransferRules: Hashable, Sendable {
    /// Without a byte from the server. Default 60 seconds (Apple: timeoutIntervalForRequest).
    public var requestTimeout: Duration?
    /// Default 2 over TLS if the server supports it, else 1.1.
    public var httpVersion: HTTPVersion?
    /// From the enqueue. Default 7 days (Apple: timeoutIntervalForResource). It stands still while the task is
    /// suspended.
    public var resourceTimeout: Duration?
    /// Default `.follow`.
    public var redirects: RedirectPolicy?
    /// Default 20; at most 100.
    public var maximumRedirects: Int?
    /// Statuses and ranges; others are failures. Default "200-299".
    public var acceptedStatuses: String?
    /// Bytes of a file, else `.tooLarge`. Default no limit.
    public var maximumSize: UInt64?

    public init() {}

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ value: bh_transfer_rules) {
        requestTimeout = duration(value.request_timeout_ms)
        httpVersion = HTTPVersion(rawValue: value.http_version)
        resourceTimeout = duration(value.resource_timeout_ms)
        redirects = RedirectPolicy(rawValue: value.redirects)
        maximumRedirects = number(value.maximum_redirects)
        acceptedStatuses = text(value.accepted_statuses)
        maximumSize = nonzero(value.maximum_size)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_transfer_rules {
        var value = bh_transfer_rules()
        value.request_timeout_ms = try positive(requestTimeout, "requestTimeout")
        value.http_version = httpVersion?.rawValue ?? 0
        value.resource_timeout_ms = try positive(resourceTimeout, "resourceTimeout")
        value.redirects = redirects?.rawValue ?? 0
        value.maximum_redirects = try positive(maximumRedirects, "maximumRedirects")
        value.accepted_statuses = try arena.optionalString(acceptedStatuses, "acceptedStatuses")
        value.maximum_size = maximumSize ?? 0
        return value
    }
}
