internal import CBackhaul

/// An answer to a challenge. It is used for the challenge's origin (or proxy) and this session only, is kept in the
/// engine's memory and nowhere else unless asked to, and is asked for again when an engine that had it is gone.
public enum ChallengeResponse: Hashable, Sendable {
    /// The tasks that wait fail with `.authenticationRequired`.
    case refuse
    /// For the schemes Basic and Digest. The user without ':' (RFC 7617); the password may be empty. Both empty: for
    /// Negotiate, the user's own Kerberos ticket.
    case credential(user: String, password: String)
    /// To send instead, such as "Authorization: Bearer …"; for a proxy `Proxy-Authorization`. Of a refresh they take
    /// the place of the tasks' own with the same names.
    case headers([Header])
    /// Go on without: the tasks that wait end as their status says; of a refresh they are sent as they are.
    case goOnWithout
    /// Of a refresh of a URL: the new one.
    case url(String)

    func value(
        _ arena: Arena, isKept: Bool, expiresMilliseconds: Int64?
    ) throws(BackhaulError) -> bh_response {
        var value = bh_response()
        value.struct_size = MemoryLayout<bh_response>.size
        value.flags = isKept ? UInt32(BH_RESPONSE_KEEP) : 0
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
