internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Serves the metrics over HTTP, to a monitoring system such as Prometheus. Only a daemon with the option `--metrics`
/// has this object. A client that is slow, sends nothing or sends other bytes than a request delays nothing: it has a
/// limited time, and the engine keeps a limited number of connections.
final class MetricsServer {
    private static let connectionLimit = 16
    /// The time for a request and its response, in milliseconds. The usual time-out of Prometheus is the same.
    private static let timeoutMilliseconds: Int64 = 10_000
    /// The limit on the connections that one call accepts, so that a flood does not block the loop.
    private static let acceptLimit = 64
    private static let retryMilliseconds: Int64 = 1_000

    typealias Reader = (@escaping (Result<String, Failure>) -> Void) -> Void

    private let loop: Loop
    private let listener: MetricsListener
    private let read: Reader
    private var watch: Watch?
    private var retry: LoopTimer?
    private var timeout: LoopTimer?
    private var connections: [UInt64: MetricsConnection] = [:]
    private var lastNumber: UInt64 = 0

    /// Makes the socket. Clients wait in its queue until `begin`.
    init(_ address: MetricsAddress, _ loop: Loop, read: @escaping Reader) throws(Failure) {
        self.loop = loop
        self.read = read
        listener = try MetricsListener.open(address)
        do throws(SystemError) {
            watch = try loop.watch(listener.number, []) { [unowned self] _ in acceptAll() }
        } catch {
            listener.remove()
            throw .system(.outOfResources, code: error.code, error.description)
        }
        retry = loop.timer { [unowned self] in _ = watch?.change(.readable) }
        timeout = loop.timer { [unowned self] in closeOverdue() }
    }

    func begin() { watch?.change(.readable) }

    func close() {
        guard watch != nil else { return }
        retry?.stop()
        timeout?.stop()
        watch?.cancel()
        watch = nil
        for connection in connections.values { connection.close() }
        connections = [:]
        listener.remove()
    }

    // MARK: Connections

    private func acceptAll() {
        for _ in 0..<Self.acceptLimit {
            guard connections.count < Self.connectionLimit || oldestIncomplete != nil else { return pause() }
            switch listener.accept() {
            case .stream(let stream): accept(stream)
            case .wouldBlock: return
            case .exhausted: return pause()
            }
        }
    }

    /// Further clients wait in the queue of the kernel. The listener stays readable, so the watch stops for a time.
    private func pause() {
        watch?.change([])
        retry?.start(milliseconds: Self.retryMilliseconds)
    }

    /// The oldest connection that has not sent its request.
    private var oldestIncomplete: UInt64? { connections.filter { $0.value.isIncomplete }.keys.min() }

    /// If there are too many connections, the oldest one that has not sent its request is closed.
    private func accept(_ stream: UnixStream) {
        if connections.count >= Self.connectionLimit, let oldestIncomplete { end(oldestIncomplete) }
        lastNumber += 1
        let number = lastNumber
        let connection = MetricsConnection(
            stream, isTCP: listener.isTCP, deadline: loop.now + Self.timeoutMilliseconds,
            read: read, ended: { [unowned self] in end(number) })
        guard connection.begin(loop) else { return }
        connections[number] = connection
        if timeout?.isRunning == false { timeout?.start(milliseconds: Self.timeoutMilliseconds) }
    }

    private func end(_ number: UInt64) {
        connections.removeValue(forKey: number)?.close()
        if retry?.isRunning == true { watch?.change(.readable) }
    }

    private func closeOverdue() {
        for (number, connection) in connections where connection.deadline <= loop.now { end(number) }
        guard let next = connections.values.map(\.deadline).min() else { return }
        timeout?.start(milliseconds: max(1, next - loop.now))
    }
}
