internal import CBackhaul

/// The response of the host to a challenge. A *challenge* is a demand for a credential, for new headers or for a new
/// URL.
///
/// The *engine* is the process that runs the tasks. It uses the response only for the challenge's session, and only for
/// the challenge's origin or proxy. By default, the engine keeps the response only in memory, so an engine process that
/// starts later opens a new challenge. If the argument `isKept` of `Session.respond` is true, the engine stores the
/// response for later engine processes.
public enum ChallengeResponse: Hashable, Sendable {
    /// There is no credential. The waiting tasks fail with `.authenticationRequired`.
    case refuse
    /// A user name without ':' (RFC 7617) and a password, for Basic and Digest. If the user name and the password are
    /// empty, Negotiate uses the Kerberos credentials of the user.
    case credential(user: String, password: String)
    /// Header fields, such as "Authorization: Bearer …". A proxy needs Proxy-Authorization instead. For a challenge of
    /// the kind `.refresh`, each field replaces the stored header field of the same name in the tasks.
    case headers([Header])
    /// There is no credential. The waiting tasks treat the status 401 or 407 like any other status (Apple:
    /// performDefaultHandling). For a challenge of the kind `.refresh`, the requests are sent without a change.
    case defaultHandling
    /// The new URL, for a challenge that demands a URL.
    case url(String)

    func value(
        _ arena: Arena, isKept: Bool, expiresMilliseconds: Int64?
    ) throws(BackhaulError) -> bh_challenge_response {
        var value = bh_challenge_response()
        value.struct_size = MemoryLayout<bh_challenge_response>.size
        value.flags = isKept ? UInt32(BH_RESPOND_AND_KEEP) : 0
        value.expires_ms = expiresMilliseconds ?? 0
        switch self {
        case .refuse: value.kind = Int32(BH_RESPOND_REFUSE)
        case .credential(let user, let password):
            value.kind = Int32(BH_RESPOND_CREDENTIAL)
            value.user = try arena.string(user, "the user's name")
            value.password = try arena.string(password, "the password")
        case .headers(let headers):
            value.kind = Int32(BH_RESPOND_HEADERS)
            value.headers = try arena.headers(headers)
            value.header_count = headers.count
        case .defaultHandling: value.kind = Int32(BH_RESPOND_DEFAULT)
        case .url(let url):
            value.kind = Int32(BH_RESPOND_URL)
            value.url = try arena.string(url, "the URL")
        }
        return value
    }
}
