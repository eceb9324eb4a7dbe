/// Decides which responses of one *hop* (one HTTP request of a transfer) libcurl handles itself. There are two kinds of
/// such responses. The first kind is a proxy's response to CONNECT. The second kind is a response with the status 401
/// or 407, after which libcurl may repeat the request with Digest.
struct AuthExchange {
    /// The credentials of the request.
    var credentials = HopCredentials()
    /// Whether the request was sent. A *head* is the status line and the header fields of a response. Heads that arrive
    /// earlier are a proxy's responses to CONNECT.
    private(set) var isRequestSent = false
    /// Whether the proxy has opened the tunnel.
    private(set) var hasTunnel = false
    /// The Negotiate tokens of the request.
    var negotiateTokens: NegotiateTokens?
    private var repeats = 0
    private var connectBody = ConnectBody()

    /// The largest number of repetitions. One stale nonce is normal. But if a server reports each nonce as stale,
    /// libcurl would repeat the request endlessly without this limit.
    private static let repeatLimit = 3

    mutating func requestBegins() {
        isRequestSent = true
        connectBody.end()
    }

    /// Resets the state, because libcurl repeats the request on another connection.
    mutating func requestIsRepeated() {
        isRequestSent = false
        hasTunnel = false
    }

    /// Returns whether libcurl may repeat the request after this status. If the result is true, the head of another
    /// response may follow. If the result is false, this head belongs to the final response.
    mutating func mayBeRepeated(after status: Int32) -> Bool {
        guard credentials.mayRepeat(after: status), repeats < Self.repeatLimit else { return false }
        repeats += 1
        isRequestSent = false
        return true
    }

    /// Returns whether libcurl would send another request after this head, although this head already belongs to the
    /// final response. If so, the transfer must be stopped.
    func mustStop(after status: Int32) -> Bool { credentials.mayRepeat(after: status) }

    /// Records the proxy's response to CONNECT. Returns false if the request must end, because libcurl cannot send a
    /// credential, or because the proxy has refused the tunnel too often.
    mutating func connectResponded(with status: Int32) -> Bool {
        hasTunnel = (200..<300).contains(status)
        guard status == 407 else {
            repeats = 0
            connectBody.end()
            return true
        }
        repeats += 1
        connectBody.begin()
        return credentials.mayRepeat(after: status) && repeats <= Self.repeatLimit
    }

    /// Records a progress call. Returns whether the body of a proxy's 407 response has exceeded the limit.
    mutating func dropsByte(limit: Int) -> Bool { connectBody.dropsByte(limit: limit) }
}
