/// A version of HTTP.
public enum HTTPVersion: Int32, Hashable, Sendable {
    /// HTTP/1.1 (RFC 9112).
    case http1_1 = 1
    /// With TLS: HTTP/2 if the server supports it, else HTTP/1.1. Without TLS: HTTP/1.1.
    case http2 = 2
    /// With TLS: the same as `http2`. Without TLS: HTTP/2 from the first byte (RFC 9113, section 3.3).
    case http2PriorKnowledge = 3
}

/// Which redirects are followed (RFC 9110, section 15.4). A redirect from https to http is never followed.
public enum RedirectPolicy: Int32, Hashable, Sendable {
    /// All redirects are followed.
    case follow = 1
    /// Redirects to the same origin are followed. After any other redirect, the task fails with `.redirectRefused`.
    case sameOrigin = 2
    /// No redirect is followed. A redirect is a response like any other: its status decides whether it is accepted.
    case never = 3
}
