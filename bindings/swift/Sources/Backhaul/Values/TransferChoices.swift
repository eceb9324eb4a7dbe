/// A version of HTTP.
public enum HTTPVersion: Int32, Hashable, Sendable {
    /// HTTP/1.1 (RFC 9112).
    case http1_1 = 1
    /// With TLS: HTTP/2 if the server supports it, else HTTP/1.1. Without TLS: HTTP/1.1.
    case http2 = 2
    /// With TLS: the same as `http2`. Without TLS: HTTP/2 from the first byte (RFC 9113, section 3.3).
    case http2PriorKnowledge = 3
}

/// How an upload continues after an interruption.
public enum ResumableUploads: Int32, Hashable, Sendable {
    /// Each attempt sends the whole body.
    case never = 1
    /// As `ietf` for bodies of at least 1 MiB, but not if the request has a header field Upload-….
    case automatic = 2
    /// By draft-ietf-httpbis-resumable-upload, if the server knows it. Other servers get an ordinary request.
    case ietf = 3
    /// By tus 1.0, which the server must know. The URL is the one that makes uploads; the method of the request is not
    /// used.
    case tus = 4
    /// As `ietf`, by version 01 of the draft, which the URLSession of Apple's systems uses.
    case apple = 5
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
