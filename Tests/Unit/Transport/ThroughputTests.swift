import BackhaulLoop
import BackhaulModel
import BackhaulPlatform
import BackhaulTransport
import CLinux
import Glibc
import Testing

/// Measures the transport alone, without the database and the disk. The test discards the received bytes. The result
/// shows the cost of libcurl in our event loop. To measure and profile, run it in a release build (`swift test -c
/// release -Xswiftc -enable-testing --filter ThroughputTests`).
///
/// BACKHAUL_THROUGHPUT="http://127.0.0.1:8080/ 10000 32 CA-FILE" fetches http://127.0.0.1:8080/0 to …/9999, 32 at once.
/// CA-FILE is optional.
@Suite("Throughput", .enabled(if: getenv("BACKHAUL_THROUGHPUT") != nil, "BACKHAUL_THROUGHPUT is not set"))
struct ThroughputTests {
    @Test("the time of many transfers from the server in BACKHAUL_THROUGHPUT is printed")
    func measure() throws {
        let setting = getenv("BACKHAUL_THROUGHPUT").map { String(cString: $0) } ?? ""
        let words = setting.split(separator: " ").map(String.init)
        try #require(words.count >= 3)
        let (prefix, caFile) = (words[0], words.count > 3 ? words[3] : nil)
        let (count, atOnce) = (try #require(Int(words[1])), try #require(Int(words[2])))
        let result = Lock<(bytes: Int, failures: Int)?>(nil)
        let thread = try LoopThread(name: "transport") { try Run($0) }
        let start = Clock.bootMilliseconds
        thread.post { run in
            run.start(prefix, count, atOnce, caFile) { bytes, failures in result.change { $0 = (bytes, failures) } }
        }
        let (bytes, failures) = result.wait(until: nil) { $0 } ?? (0, 0)
        print("\(Clock.bootMilliseconds - start) ms, \(bytes) bytes, \(failures) failures")
        thread.stop()
        #expect(failures == 0)
    }
}

private final class Run: TransferDelegate {
    private let transport: Transport
    private var prefix = ""
    private var caFile: String?
    private var next = 0
    private var count = 0
    private var running = 0
    private var bytes = 0
    private var failures = 0
    private var done: (Int, Int) -> Void = { _, _ in }

    init(_ loop: Loop) throws {
        transport = try Transport(loop: loop)
    }

    deinit { transport.close() }

    func start(_ prefix: String, _ count: Int, _ atOnce: Int, _ caFile: String?, done: @escaping (Int, Int) -> Void) {
        (self.prefix, self.count, self.caFile, self.done) = (prefix, count, caFile, done)
        for _ in 0..<min(atOnce, count) { startNext() }
    }

    private func startNext() {
        let url = prefix + String(next)
        next += 1
        running += 1
        do throws(Failure) {
            let origin = try URLParser.origin(of: url)
            _ = try transport.start(TransferRequest(url: url, caFile: caFile, origin: origin), self)
        } catch {
            transferIsOver(failed: true)
        }
    }

    private func transferIsOver(failed: Bool) {
        running -= 1
        if failed { failures += 1 }
        if next < count { startNext() } else if running == 0 { done(bytes, failures) }
    }

    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        if head.status != 200 { failures += 1 }
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        self.bytes += bytes.byteCount
        return .go
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) { transferIsOver(failed: end != .complete) }
}
