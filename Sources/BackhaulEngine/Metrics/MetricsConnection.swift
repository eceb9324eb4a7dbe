internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// A connection to the server of metrics: one request and one response.
final class MetricsConnection {
    private enum State {
        /// The head of the request is incomplete. The bytes of it that have arrived.
        case receiving([UInt8])
        /// The engine reads the metrics.
        case reading
        case sending(OutgoingBytes)
        /// The response is sent. The client closes the connection when it has read the response. If this object closed
        /// it first, unread bytes of the client could reset the connection before that.
        case closing(received: Int)
        case closed
    }

    /// After the response, a client may send this many more bytes.
    private static let excessLimit = 1 << 20

    private let stream: UnixStream
    private let isTCP: Bool
    /// When the connection is closed at the latest, in milliseconds since boot.
    let deadline: Int64
    private let read: MetricsServer.Reader
    private let ended: () -> Void
    private var watch: Watch?
    private var state = State.receiving([])

    init(
        _ stream: UnixStream, isTCP: Bool, deadline: Int64, read: @escaping MetricsServer.Reader,
        ended: @escaping () -> Void
    ) {
        self.stream = stream
        self.isTCP = isTCP
        self.deadline = deadline
        self.read = read
        self.ended = ended
    }

    /// Returns false if the connection cannot be watched.
    func begin(_ loop: Loop) -> Bool {
        watch = try? loop.watch(stream.number, .readable) { [unowned self] _ in ready() }
        return watch != nil
    }

    /// Whether the client has not sent its whole request yet, or has got its response.
    var isIncomplete: Bool {
        switch state {
        case .receiving, .closing, .closed: true
        case .reading, .sending: false
        }
    }

    func close() {
        watch?.cancel()
        watch = nil
        state = .closed
    }

    private func ready() {
        switch state {
        case .receiving(let bytes): receive(after: bytes)
        case .sending(let bytes): send(bytes)
        case .closing(let received): discard(after: received)
        case .reading, .closed: break
        }
    }

    private func receive(after bytes: [UInt8]) {
        switch stream.read() {
        case .wouldBlock: return
        case .closed: return ended()
        case .bytes(let more):
            let bytes = bytes + more
            switch ScrapeRequest.read(bytes, isTCP: isTCP) {
            case nil: state = .receiving(bytes)
            case .refused(let refusal): send(ScrapeResponse.bytes(refusal))
            case .metrics(let format, let hasBody): respond(format, hasBody: hasBody)
            }
        }
    }

    private func respond(_ format: ScrapeFormat, hasBody: Bool) {
        state = .reading
        watch?.change([])
        read { [weak self] result in
            guard let self, case .reading = self.state else { return }
            switch result {
            case .success(let text): self.send(ScrapeResponse.bytes(text, format, hasBody: hasBody))
            case .failure: self.send(ScrapeResponse.bytes(.unavailable))
            }
        }
    }

    private func send(_ bytes: [UInt8]) {
        var outgoing = OutgoingBytes()
        outgoing.append(bytes)
        send(outgoing)
    }

    private func send(_ bytes: OutgoingBytes) {
        var bytes = bytes
        guard bytes.write(to: stream) else { return ended() }
        if bytes.isEmpty {
            stream.endWriting()
            state = .closing(received: 0)
            watch?.change(.readable)
        } else {
            state = .sending(bytes)
            watch?.change(.writable)
        }
    }

    private func discard(after received: Int) {
        switch stream.read() {
        case .wouldBlock: return
        case .closed: ended()
        case .bytes(let bytes):
            let received = received + bytes.count
            if received > Self.excessLimit { return ended() }
            state = .closing(received: received)
        }
    }
}
