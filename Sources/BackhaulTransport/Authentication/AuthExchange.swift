/// The 401 and 407 responses of one hop that libcurl handles itself. After such a response libcurl repeats the request
/// with Digest. Others are a proxy's responses to CONNECT.
struct AuthExchange {
    /// The credentials of the request.
    var credentials = HopCredentials()
    /// Whether the request was sent. Heads that arrive before that are a proxy's responses to CONNECT.
    private(set) var isRequestSent = false
    /// Whether the proxy has opened the tunnel.
    private(set) var hasTunnel = false
    /// The Negotiate tokens of the request.
    var negotiateTokens: NegotiateTokens?
    private var repeats = 0

    /// The limit of repeats. One stale nonce is normal, but a server that calls each nonce stale would otherwise cause
    /// endless requests.
    private static let repeatLimit = 3

    mutating func requestBegins() { isRequestSent = true }

    /// Resets the state, because libcurl repeats the request on another connection.
    mutating func requestIsRepeated() {
        isRequestSent = false
        hasTunnel = false
    }

    /// Returns whether libcurl may repeat the request after this status. If it does, another head follows; if it does
    /// not, this head is the response.
    mutating func mayBeRepeated(after status: Int32) -> Bool {
        guard credentials.mayRepeat(after: status), repeats < Self.repeatLimit else { return false }
        repeats += 1
        isRequestSent = false
        return true
    }

    /// Returns whether libcurl would send another request after this head, although the head is the response. Then the
    /// transfer must be stopped.
    func mustStop(after status: Int32) -> Bool { credentials.mayRepeat(after: status) }

    /// Records the proxy's response to CONNECT. Returns false when the proxy has refused the tunnel too often.
    mutating func connectResponded(with status: Int32) -> Bool {
        repeats = status == 407 ? repeats + 1 : 0
        hasTunnel = (200..<300).contains(status)
        return repeats <= Self.repeatLimit
    }
}
