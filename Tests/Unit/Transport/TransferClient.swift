import BackhaulLoop
import BackhaulModel
import BackhaulPlatform
import BackhaulTransport

/// What a delegate has received from a transfer.
struct TransferRecord: Sendable {
    var head: ResponseHead?
    var body: [UInt8] = []
    var end: TransferEnd?
    var heads = 0
    var ends = 0
    var chunks = 0
    var metrics = TransferMetrics()

    var text: String { String(decoding: body, as: UTF8.self) }
    /// Returns whether the body equals the bytes. This is a function, because an `#expect` of two large arrays compares
    /// each element for its message.
    func hasBody(_ bytes: [UInt8]) -> Bool { body == bytes }
    var failure: Failure? { if case .failed(let failure, _, _) = end { failure } else { nil } }
    var isTransient: Bool? { if case .failed(_, let isTransient, _) = end { isTransient } else { nil } }
}

/// A delegate, which a transfer calls with its response. It records all calls, and calls the test's closures.
final class RecordingDelegate: TransferDelegate {
    var record = TransferRecord()
    var transfer: Transfer?
    var onHead: (Transfer) -> BodyPlan = { _ in .receive }
    /// Returns whether the delegate accepts the bytes. If it does not accept them, the transfer pauses.
    var acceptsBytes: (Transfer) -> Bool = { _ in true }
    var onBytes: (Transfer) -> Flow = { _ in .go }
    var onEnd: (TransferRecord) -> Void = { _ in }

    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        record.heads += 1
        record.head = head
        return onHead(transfer)
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        guard acceptsBytes(transfer) else { return .pause }
        record.chunks += 1
        bytes.withUnsafeBytes { record.body += $0 }
        return onBytes(transfer)
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        record.ends += 1
        record.end = end
        record.metrics = transfer.metrics
        self.transfer = nil
        onEnd(record)
    }
}

/// The objects that belong to the thread of a `TransferClient`.
final class TransportContext {
    let loop: Loop
    let transport: Transport
    var kept: [AnyObject] = []

    init(_ loop: Loop) throws {
        self.loop = loop
        transport = try Transport(loop: loop)
    }

    deinit { transport.close() }
}

/// Performs transfers for a test. It has a thread with an event loop (the *loop thread*), on which the library's
/// transport runs.
struct TransferClient: Sendable {
    let thread: LoopThread<TransportContext>

    init() throws {
        thread = try LoopThread(name: "transferClient") { try TransportContext($0) }
    }

    func close() { thread.stop() }

    /// Runs `body` on the loop's thread. Waits until `body` calls its closure, and returns the closure's argument.
    func event<Value: Sendable>(
        _ body: @escaping @Sendable (TransportContext, @escaping (Value) -> Void) -> Void
    ) async -> Value {
        await withCheckedContinuation { continuation in
            thread.post { client in
                var waiting: CheckedContinuation<Value, Never>? = continuation
                body(client) { value in
                    waiting?.resume(returning: value)
                    waiting = nil
                }
            }
        }
    }

    /// Waits until all posted jobs are done. Then waits for the work that these jobs added for the end of the loop
    /// iteration.
    func settle() async {
        for _ in 0..<2 { let _: Bool = await event { _, done in done(true) } }
    }

    func fetch(
        _ request: TransferRequest, cookies: CookieBox? = nil, bodySize: UInt64? = nil,
        prepare: @escaping @Sendable (RecordingDelegate, TransportContext) -> Void = { _, _ in }
    ) async -> TransferRecord {
        await event { client, done in
            let recorder = RecordingDelegate()
            recorder.onEnd = { record in
                client.kept.removeAll { $0 === recorder }
                done(record)
            }
            client.kept.append(recorder)
            prepare(recorder, client)
            do throws(Failure) {
                if let cookies, cookies.jar == nil { cookies.jar = try CookieJar() }
                let body = bodySize.map { Zeros($0) }
                recorder.transfer = try client.transport.start(request, body: body, cookies: cookies?.jar, recorder)
            } catch {
                recorder.record.end = .failed(error, isTransient: false)
                done(recorder.record)
            }
        }
    }

    /// Performs all requests, `atOnce` at a time. Returns the records in the order in which the transfers end.
    func fetchAll(_ requests: [TransferRequest], atOnce: Int = 100) async -> [TransferRecord] {
        await event { client, done in
            var records: [TransferRecord] = []
            var next = 0
            func start() {
                guard next < requests.count else { return }
                let recorder = RecordingDelegate()
                client.kept.append(recorder)
                recorder.onEnd = { record in
                    client.kept.removeAll { $0 === recorder }
                    records.append(record)
                    if records.count == requests.count { done(records) } else { start() }
                }
                next += 1
                recorder.transfer = try? client.transport.start(requests[next - 1], recorder)
            }
            for _ in 0..<atOnce { start() }
        }
    }

    /// Performs one request at a time. Each request starts as soon as the previous request has ended. So no connection
    /// is idle for long, even on a busy machine.
    func fetchOneByOne(_ requests: [TransferRequest]) async -> [TransferRecord] { await fetchAll(requests, atOnce: 1) }

    func fetch(_ url: String) async -> TransferRecord {
        await fetch(request(url))
    }
}

func request(_ url: String, caFile: String? = nil) -> TransferRequest {
    // Only tests of invalid URLs use a URL without an origin.
    let origin = (try? URLParser.origin(of: url)) ?? Origin(scheme: "http", server: "127.0.0.1", port: 1)
    return TransferRequest(url: url, requestTimeoutMilliseconds: 20_000, caFile: caFile, origin: origin)
}
