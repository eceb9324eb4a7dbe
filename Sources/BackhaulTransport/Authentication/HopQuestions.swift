/// The 401 and 407 responses that libcurl handles itself in one hop. After some it repeats the request with Digest.
/// Others are a proxy's responses to CONNECT.
struct HopQuestions {
    /// The credentials that the request carries.
    var credentials = HopCredentials()
    /// Whether the request was sent. Earlier heads are a proxy's responses to CONNECT.
    private(set) var isRequestSent = false
    /// Whether the proxy has opened the tunnel.
    private(set) var hasTunnel = false
    /// The Negotiate tokens of the request.
    var tickets: HopTickets?
    private var repeats = 0

    /// One stale nonce is normal. Without a limit, a server that calls each nonce stale would cause endless requests.
    private static let repeatLimit = 3

    mutating func requestBegins() { isRequestSent = true }

    /// libcurl makes another connection for the request.
    mutating func requestIsRepeated() {
        isRequestSent = false
        hasTunnel = false
    }

    /// Whether libcurl may repeat the request after this status, so that another head follows. If none follows, this
    /// head is the response.
    mutating func mayBeRepeated(after status: Int32) -> Bool {
        guard credentials.mayRepeat(after: status), repeats < Self.repeatLimit else { return false }
        repeats += 1
        isRequestSent = false
        return true
    }

    /// Whether libcurl must be stopped, because this head is the response and libcurl would send another request.
    func isToBeStopped(after status: Int32) -> Bool { credentials.mayRepeat(after: status) }

    /// Notes the proxy's response to CONNECT. Returns false when the proxy has refused the tunnel too often.
    mutating func connectWasAnswered(with status: Int32) -> Bool {
        repeats = status == 407 ? repeats + 1 : 0
        hasTunnel = (200..<300).contains(status)
        return repeats <= Self.repeatLimit
    }
}
