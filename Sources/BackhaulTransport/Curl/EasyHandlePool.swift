internal import BackhaulModel

/// The unused easy handles of a connection identity, which are kept for later requests. A *connection identity* is the
/// settings that all requests on a connection share. The pool also owns the sockets of all its handles.
final class EasyHandlePool {
    private let sockets = SocketTable()
    private let identity: ConnectionIdentity
    private var unused: [EasyHandle] = []

    /// The largest number of unused handles in the pool. Each handle needs 24 KB.
    private static let limit = 32

    /// - replaced: called when libcurl has closed a socket without a call of CURLOPT_CLOSESOCKETFUNCTION, and a new
    ///   socket has the same number.
    init(_ identity: ConnectionIdentity, replaced: @escaping (Int32) -> Void) {
        self.identity = identity
        sockets.replaced = replaced
    }

    /// Returns a handle that has no Digest nonces, or only nonces of `nonceOwner` (a credential and a server). Nonces
    /// identify the user, and libcurl has no function that removes them from a handle.
    func take(nonceOwner: String?) throws(Failure) -> EasyHandle {
        for owner in nonceOwner == nil ? [nil] : [nonceOwner, nil] {
            if let index = unused.lastIndex(where: { $0.nonceOwner == owner }) { return unused.remove(at: index) }
        }
        return try EasyHandle(sockets, identity)
    }

    func recycle(_ easy: EasyHandle) {
        guard easy.mayBeUsedAgain else { return }
        easy.forgetCredentials()
        // If the pool is full, evicts the oldest handle that has a nonce owner: only requests of this owner could use
        // the handle.
        if unused.count >= EasyHandlePool.limit {
            guard let index = unused.firstIndex(where: { $0.nonceOwner != nil }) else { return }
            unused.remove(at: index)
        }
        unused.append(easy)
    }

    func socket(_ endpoints: ConnectionEndpoints) -> ConnectionSocket? { sockets.find(endpoints) }

    /// Whether the pool has an open connection that has carried a request.
    var haveConnections: Bool { sockets.hasConnections }

    func findEndedConnections() -> Bool { sockets.findEndedConnections() }

    func resetLostConnections() { sockets.resetLostConnections() }
}
