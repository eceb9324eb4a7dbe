internal import BackhaulModel

/// The unused easy handles of an identity, some of which are kept for later requests. Owns the sockets of all handles.
final class EasyHandles {
    private let sockets = SocketTable()
    private let identity: ConnectionIdentity
    private var unused: [EasyHandle] = []

    /// The number of unused handles to keep. Each takes 24 KB.
    private static let limit = 32

    /// - replaced: called when libcurl has closed a socket without CURLOPT_CLOSESOCKETFUNCTION and a new one has its
    ///   number.
    init(_ identity: ConnectionIdentity, replaced: @escaping (Int32) -> Void) {
        self.identity = identity
        sockets.replaced = replaced
    }

    /// - nonceOwner: the owner of the Digest nonces that the handle may have. libcurl cannot forget nonces, and they
    ///   identify the user.
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
        // Evicts the oldest handle that only its nonces' owner can use.
        if unused.count >= EasyHandles.limit {
            guard let index = unused.firstIndex(where: { $0.nonceOwner != nil }) else { return }
            unused.remove(at: index)
        }
        unused.append(easy)
    }

    func socket(_ ends: ConnectionEnds) -> ConnectionSocket? { sockets.find(ends) }

    /// Whether connections are open that have carried a request.
    var haveConnections: Bool { sockets.hasConnections }

    /// Whether a server has ended one of the connections that carry no request now.
    var haveEndedConnections: Bool { sockets.hasEndedConnections }

    /// False if the host has closed one of the sockets.
    var socketsAreOurs: Bool { sockets.areOurs }
}
