internal import BackhaulModel

/// The easy handles of an identity that are not in use, some of which are kept for the next requests, and the sockets
/// of all.
final class EasyHandles {
    private let sockets = SocketTable()
    private let identity: ConnectionIdentity
    private var unused: [EasyHandle] = []

    /// An unused handle holds 24 KB.
    private static let limit = 32

    init(_ identity: ConnectionIdentity) { self.identity = identity }

    func take() throws(Failure) -> EasyHandle {
        if let easy = unused.popLast() { return easy }
        return try EasyHandle(sockets, identity)
    }

    func giveBack(_ easy: EasyHandle) {
        guard unused.count < EasyHandles.limit else { return }
        easy.forgetCredentials()
        unused.append(easy)
    }

    /// False when the host has closed a socket of theirs.
    var socketsAreOurs: Bool { sockets.areOurs }
}
