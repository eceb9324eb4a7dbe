internal import CBackhaul

/// The response to a challenge.
///
/// The engine uses it for the challenge's origin or proxy and for this session only, and keeps it in memory. A later
/// engine opens a new challenge.
public enum ChallengeResponse: Hashable, Sendable {
    /// No credential: waiting tasks fail with `.authenticationRequired`.
    case refuse
    /// A user name without ':' (RFC 7617) and a password, for Basic and Digest. If both are empty, Negotiate uses the
    /// Kerberos credentials of the user.
    case credential(user: String, password: String)
    /// Header fields such as "Authorization: Bearer …"; for a proxy Proxy-Authorization. For a refresh they replace the
    /// tasks' headers of the same name, durably.
    case headers([Header])
    /// No credential: for waiting tasks, the status 401 or 407 counts as any other (Apple: performDefaultHandling). For
    /// a refresh: requests are sent unchanged.
    case goOnWithout
    /// The new URL, for a refresh of a URL.
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
        case .goOnWithout: value.kind = Int32(BH_RESPOND_DEFAULT)
        case .url(let url):
            value.kind = Int32(BH_RESPOND_URL)
            value.url = try arena.string(url, "the URL")
        }
        return value
    }
}
