internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The socket on which the metrics are served.
enum MetricsListener {
    case unix(UnixListener)
    case tcp(LoopbackListener)

    /// Makes the socket. Replaces a socket that no process serves any more, but never a file of another kind.
    static func open(_ address: MetricsAddress) throws(Failure) -> MetricsListener {
        do throws(SystemError) {
            switch address {
            case .unix(let path): return .unix(try UnixListener(path: path))
            case .loopback(let port, let isIPv6): return .tcp(try LoopbackListener(port: port, isIPv6: isIPv6))
            }
        } catch {
            let reason =
                switch error.code {
                case EADDRINUSE: "another program listens there; end it, or choose another address"
                case EEXIST: "the path has a file that is no socket; remove it, or choose another path"
                default: error.reason
                }
            throw .system(
                .invalidArgument, code: error.code, "the metrics cannot be served at \(address.text): \(reason)")
        }
    }

    var number: Int32 {
        switch self {
        case .unix(let listener): listener.number
        case .tcp(let listener): listener.number
        }
    }

    var isTCP: Bool {
        if case .tcp = self { return true }
        return false
    }

    func accept() -> UnixListener.AcceptResult {
        switch self {
        case .unix(let listener): listener.accept()
        case .tcp(let listener): listener.accept()
        }
    }

    /// Removes the file of a Unix socket.
    func remove() { if case .unix(let listener) = self { listener.remove() } }
}
