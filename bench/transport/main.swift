// The transport alone, its bytes thrown away: what libcurl on our loop costs, without store and disk.
//
//     swift run -c release transport-bench http://127.0.0.1:8080/ 10000 32 [CA-FILE]
//
// fetches http://127.0.0.1:8080/0 to …/9999, 32 at once, and prints milliseconds, bytes and failures.
import BackhaulLoop
import BackhaulModel
import BackhaulPlatform
import BackhaulTransport
import Glibc

final class Run: TransferDelegate {
    let loop: Loop
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
        self.loop = loop
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
            let origin = try WebAddress.origin(of: url)
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

let arguments = CommandLine.arguments
guard arguments.count > 3, let count = Int(arguments[2]), let atOnce = Int(arguments[3]), count > 0, atOnce > 0 else {
    print("usage: transport-bench URL-PREFIX COUNT AT-ONCE [CA-FILE]")
    exit(2)
}
let (prefix, caFile) = (arguments[1], arguments.count > 4 ? arguments[4] : nil)
let result = Lock<(bytes: Int, failures: Int)?>(nil)
let start = Clock.bootMilliseconds
let thread = try LoopThread(name: "transport", make: { try Run($0) }, broken: { _ in })
thread.post { run in
    run.start(prefix, count, atOnce, caFile) { bytes, failures in result.change { $0 = (bytes, failures) } }
}
let (bytes, failures) = result.wait(until: nil) { $0 } ?? (0, 0)
print("\(Clock.bootMilliseconds - start) ms, \(bytes) bytes, \(failures) failures")
thread.stop()
exit(failures == 0 ? 0 : 1)
