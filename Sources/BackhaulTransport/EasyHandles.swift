internal import BackhaulModel

/// The easy handles that are not in use, some of which are kept for the next requests, and the sockets of all.
final class EasyHandles {
    private let sockets = SocketTable()
    private var unused: [EasyHandle] = []

    /// An unused handle holds 24 KB.
    private static let limit = 32

    func take(caFile: String?) throws(Failure) -> EasyHandle {
        if let index = unused.lastIndex(where: { $0.accepts(caFile: caFile) }) { return unused.remove(at: index) }
        return try EasyHandle(sockets)
    }

    func giveBack(_ easy: EasyHandle) {
        guard unused.count < EasyHandles.limit else { return }
        easy.forgetCredentials()
        unused.append(easy)
    }

    /// False when the host has closed a socket of theirs.
    var socketsAreOurs: Bool { sockets.areOurs }
}
