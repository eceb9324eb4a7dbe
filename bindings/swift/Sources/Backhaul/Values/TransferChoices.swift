/// A version of HTTP.
public enum HTTPVersion: Int32, Hashable, Sendable {
    case http1_1 = 1
    /// HTTP/2 over TLS if the server supports it, and without TLS by an upgrade from 1.1 (RFC 7540, section 3.2).
    case http2 = 2
    /// HTTP/2 without negotiation, also without TLS (RFC 9113, section 3.3).
    case http2PriorKnowledge = 3
}

/// Which redirects are followed (RFC 9110, section 15.4). A redirect from https to http is never followed.
public enum RedirectPolicy: Int32, Hashable, Sendable {
    case follow = 1
    /// Redirects to the same origin are followed. Others fail with `.redirectRefused`.
    case sameOrigin = 2
    /// No redirect is followed. It is a response like any other, accepted or not by its status.
    case none = 3
}
