internal import BackhaulModel

/// The easy handles of an identity that are not in use, some of which are kept for the next requests, and the sockets
/// of all.
final class EasyHandles {
    private let sockets = SocketTable()
    private let identity: ConnectionIdentity
    private var unused: [EasyHandle] = []

    /// An unused handle holds 24 KB.
    private static let limit = 32

    /// `replaced`: libcurl closed a socket without CURLOPT_CLOSESOCKETFUNCTION, and the next one has its number.
    init(_ identity: ConnectionIdentity, replaced: @escaping (Int32) -> Void) {
        self.identity = identity
        sockets.replaced = replaced
    }

    /// `nonceOwner`: whose Digest nonces it may have. libcurl cannot be told to forget them, and they name the user.
    func take(nonceOwner: String?) throws(Failure) -> EasyHandle {
        for owner in nonceOwner == nil ? [nil] : [nonceOwner, nil] {
            if let index = unused.lastIndex(where: { $0.nonceOwner == owner }) { return unused.remove(at: index) }
        }
        return try EasyHandle(sockets, identity)
    }

    func giveBack(_ easy: EasyHandle) {
        guard !CurlLibrary.handlesAreForOneRequest else { return }
        guard !easy.isSpent else { return }
        easy.forgetCredentials()
        // Those that only their owner can use go first, the oldest before the others.
        if unused.count >= EasyHandles.limit {
            guard let index = unused.firstIndex(where: { $0.nonceOwner != nil }) else { return }
            unused.remove(at: index)
        }
        unused.append(easy)
    }

    func socket(_ ends: ConnectionEnds) -> ConnectionSocket? { sockets.find(ends) }

    /// Open ones, that have carried a request.
    var haveConnections: Bool { sockets.hasConnections }

    /// Of those that carry none now, one at least was ended by its server.
    var haveEndedConnections: Bool { sockets.hasEndedConnections }

    /// False when the host has closed a socket of theirs.
    var socketsAreOurs: Bool { sockets.areOurs }
}
