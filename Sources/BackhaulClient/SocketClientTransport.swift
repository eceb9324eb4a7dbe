internal import BackhaulEngine
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// The connection to an engine of another process. An *engine* runs the tasks. Any thread may send messages. The
/// client's thread receives in `run`, and writes the bytes that the senders have not written to the socket.
final class SocketClientTransport: ClientTransport {
    private static let closeMilliseconds: Int64 = 500
    /// The sender of a message up to this size writes it to the socket. A wake-up of the client's thread would cost
    /// more than this write. The client's thread writes larger messages, while their sender prepares the next message.
    private static let immediateWriteSize = 16 << 10

    private struct Outgoing {
        var bytes = OutgoingBytes()
        /// The replies to commands that cannot be sent. The client's thread delivers them like the engine's replies.
        var refusals: [EngineMessage] = []
        var isClosed = false

        mutating func takeRefusals() -> [EngineMessage] {
            defer { refusals = [] }
            return refusals
        }
    }

    private let stream: UnixStream
    private let wake: EventFD
    /// This lock is held during a write, so that the messages keep their order. The caller of `send` also
    /// holds the lock of the client's state, so other threads wait for the write. But the write does not block.
    private let outgoing = Lock(Outgoing())

    init(directory: StoreDirectory) throws(SystemError) {
        stream = try UnixStream.connect(name: Engine.socketName, in: directory.descriptor)
        wake = try EventFD()
    }

    var peer: PeerCredential? { stream.peer }

    func send(_ message: ClientMessage) {
        let bytes: [UInt8]
        do throws(Failure) {
            bytes = try Wire.encode(message)
        } catch {
            return refuse(message, error)
        }
        let mustWake = outgoing.withLock { state in
            guard !state.isClosed else { return false }
            let isFirst = state.bytes.isEmpty
            state.bytes.append(bytes)
            // If earlier bytes wait, the client's thread writes all bytes. It was woken for the earlier bytes.
            guard isFirst else { return false }
            // After a failed write, the client's thread finds the failure again.
            if bytes.count <= Self.immediateWriteSize { _ = state.bytes.write(to: stream) }
            return !state.bytes.isEmpty
        }
        if mustWake { wake.set() }
    }

    /// Replies to a command that is too large for a message. The reply is delivered later, because the caller holds the
    /// lock of the client's state. Messages that are not commands have small fixed sizes.
    private func refuse(_ message: ClientMessage, _ failure: Failure) {
        guard case .command(let sequence, _, _) = message else { return }
        outgoing.withLock { $0.refusals.append(.reply(sequence: sequence, .failed(failure))) }
        wake.set()
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
            let (isOpen, isClosed, isDrained, refusals) = outgoing.withLock { state in
                (state.bytes.write(to: stream), state.isClosed, state.bytes.isEmpty, state.takeRefusals())
            }
            for refusal in refusals { guard deliver(refusal) else { return .disconnected } }
            if isClosed, isDrained { return .closed }
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
            // After a failed write, the engine's last messages are still read: they may have the reason.
            guard isOpen else { return .disconnected }
            if let deadline, deadline.hasPassed { return .timedOut }
            stream.wait(forWriting: !isDrained, orSet: wake, until: deadline)
        }
    }
}
