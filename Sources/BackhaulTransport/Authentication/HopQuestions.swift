/// What libcurl answers itself in one hop: a 401 or 407 that is followed by another request, for Digest, and a proxy's
/// answers to CONNECT.
struct HopQuestions {
    /// What the request carries of answers.
    var credentials = HopCredentials()
    /// Until then heads are those of a proxy's answers to CONNECT.
    private(set) var isRequestSent = false
    /// The proxy has agreed to it.
    private(set) var hasTunnel = false
    /// For Negotiate.
    var tickets: HopTickets?
    private var repeats = 0

    /// A nonce that is stale once is nothing odd; a server for which each is would be asked for ever.
    private static let repeatLimit = 3

    mutating func requestBegins() { isRequestSent = true }

    /// Another connection is being made for it.
    mutating func requestIsRepeated() {
        isRequestSent = false
        hasTunnel = false
    }

    /// Whether another head may follow this one. If none does, this was the answer.
    mutating func mayBeRepeated(after status: Int32) -> Bool {
        guard credentials.mayRepeat(after: status), repeats < Self.repeatLimit else { return false }
        repeats += 1
        isRequestSent = false
        return true
    }

    /// libcurl would go on although this is taken for the answer.
    func isToBeStopped(after status: Int32) -> Bool { credentials.mayRepeat(after: status) }

    /// False when the proxy has refused the tunnel too often.
    mutating func connectWasAnswered(with status: Int32) -> Bool {
        repeats = status == 407 ? repeats + 1 : 0
        hasTunnel = (200..<300).contains(status)
        return repeats <= Self.repeatLimit
    }
}
