import CBackhaul

/// A response to a challenge, which demands a credential, new headers or a new URL.
struct Response {
    enum Kind {
        case refuse
        case defaultHandling
        case password(user: String, password: String)
        case headers([(name: String, value: String)])
        case url(String)
    }
    var kind: Kind
    /// Whether the credential is also stored, so that it can be used after a restart.
    var isKept = false
    /// The time at which the credential expires, in Unix milliseconds. Nil if no such time is known.
    var expires: Int64?

    func response(_ arena: CStringArena) -> bh_challenge_response {
        var response = bh_challenge_response()
        response.struct_size = MemoryLayout<bh_challenge_response>.size
        response.flags = isKept ? UInt32(BH_RESPOND_AND_KEEP) : 0
        response.expires_ms = expires ?? 0
        switch kind {
        case .refuse: response.kind = Int32(BH_RESPOND_REFUSE)
        case .defaultHandling: response.kind = Int32(BH_RESPOND_DEFAULT)
        case .password(let user, let password):
            response.kind = Int32(BH_RESPOND_CREDENTIAL)
            response.user = arena.string(user)
            response.password = arena.string(password)
        case .headers(let headers):
            response.kind = Int32(BH_RESPOND_HEADERS)
            response.headers = arena.headers(headers)
            response.header_count = headers.count
        case .url(let url):
            response.kind = Int32(BH_RESPOND_URL)
            response.url = arena.string(url)
        }
        return response
    }
}
