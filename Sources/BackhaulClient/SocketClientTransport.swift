internal import BackhaulEngine
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// The connection to an engine of another process. An *engine* runs the tasks. Any thread may queue messages. The
/// client's thread sends them in `run`.
final class SocketClientTransport: ClientTransport {
    private static let closeMilliseconds: Int64 = 500

    private struct Outgoing {
        var bytes: [UInt8] = []
        var isClosed = false
    }

    private let stream: UnixStream
    private let wake: EventFD
    private let outgoing = Lock(Outgoing())

    init(directory: StoreDirectory) throws(SystemError) {
        stream = try UnixStream.connect(name: Engine.socketName, in: directory.descriptor)
        wake = try EventFD()
    }

    var peer: PeerCredential? { stream.peer }

    func send(_ message: ClientMessage) {
        // Encoding does not fail. Requests are sent in chunks, and `Limits.idCount` bounds the ids in a command. So
        // every command is far smaller than the largest permitted message.
        guard let bytes = try? Wire.encode(message) else { return }
        let isOpen = outgoing.withLock { state in
            guard !state.isClosed else { return false }
            state.bytes += bytes
            return true
        }
        if isOpen { wake.set() }
    }

    func close() {
        outgoing.withLock { $0.isClosed = true }
        wake.set()
    }

    enum End: Equatable {
        /// `close` was called, and all messages before it were sent.
        case closed
        case disconnected
        case failed(Failure)
        case timedOut
    }

    /// Sends and receives messages until the connection ends, `deliver` returns false, or the deadline passes.
    func run(until deadline: Deadline?, _ reader: inout FrameReader, _ deliver: (EngineMessage) -> Bool) -> End {
        var pending: [UInt8] = []
        var sent = 0
        var deadline = deadline
        var isClosing = false
        // The previous call of `run` may have read more messages than it delivered.
        do {
            while let message = try reader.nextEngineMessage() {
                guard deliver(message) else { return .disconnected }
            }
        } catch {
            return .failed(error)
        }
        while true {
            wake.clear()
            if sent == pending.count {
                pending = outgoing.withLock { state in
                    defer { state.bytes = [] }
                    return state.bytes
                }
                sent = 0
            }
            while sent < pending.count {
                switch stream.write(pending, from: sent) {
                case .written(let count):
                    sent += count
                    continue
                case .closed: return .disconnected
                case .wouldBlock: break
                }
                break
            }
            let (isClosed, isDrained) = outgoing.withLock { ($0.isClosed, $0.bytes.isEmpty) }
            if isClosed, isDrained, sent == pending.count { return .closed }
            // An engine whose process is stopped (SIGSTOP) reads nothing. So after `close`, this thread tries to send
            // the last messages only for a limited time.
            if isClosed, !isClosing {
                isClosing = true
                deadline = .after(milliseconds: Self.closeMilliseconds)
            }
            switch stream.read() {
            case .bytes(let bytes):
                reader.append(bytes)
                do {
                    while let message = try reader.nextEngineMessage() {
                        guard deliver(message) else { return .disconnected }
                    }
                } catch {
                    return .failed(error)
                }
                continue
            case .closed: return .disconnected
            case .wouldBlock: break
            }
            if let deadline, deadline.hasPassed { return .timedOut }
            let hasMore = outgoing.withLock { !$0.bytes.isEmpty || $0.isClosed }
            if hasMore, sent == pending.count { continue }
            stream.wait(forWriting: sent < pending.count, orSet: wake, until: deadline)
        }
    }
}
