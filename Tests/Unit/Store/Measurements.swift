import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulStore

/// Prints how fast the store is on this machine: `BACKHAUL_MEASURE=1 swift test -c release -Xswiftc -enable-testing
/// --filter Measurements`. The tests check no rates, because rates depend on the disk.
@Suite("Measurements", .serialized, .enabled(if: getenv("BACKHAUL_MEASURE") != nil))
struct Measurements {
    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try body()
        let time = (clock.now - start).components
        return Double(time.seconds) + Double(time.attoseconds) / 1e18
    }

    private func printRate(_ what: String, _ count: Int, _ time: Double) {
        let rate = Int(Double(count) / time)
        print("\(what): \(count) in \(Int(time * 1_000)) ms, \(rate) a second; at most \(memoryPeak()) of memory")
    }

    /// The peak of resident memory: the field VmHWM of proc(5).
    private func memoryPeak() -> String {
        guard let file = fopen("/proc/self/status", "r") else { return "?" }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("VmHWM:") { return text.dropFirst(6).filter { !$0.isWhitespace } }
        }
        return "?"
    }

    private func fill(_ store: TestStore, _ session: SessionID, _ range: Range<Int>, random: Bool = false) throws {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Limits.chunkCount) {
            let chunk = (start..<min(range.upperBound, start + Limits.chunkCount)).map { number in
                Request.numbered(number) { request in
                    if random {
                        request.idempotencyKey = "\(UInt64.random(in: 0 ... .max))"
                        request.destination?.path = "/home/someone/files/\(UInt64.random(in: 0 ... .max))"
                    }
                }
            }
            try store.enqueue(chunk, in: session)
        }
    }

    @Test("the speed of a store with a million tasks is printed", arguments: [false, true])
    func million(random: Bool) throws {
        let scratch = Scratch()
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let count = 1_000_000
        for part in 0..<4 {
            let range = part * count / 4..<(part + 1) * count / 4
            let time = try seconds { try fill(store, session, range, random: random) }
            printRate("enqueue in chunks of 4,096, random names and keys \(random), part \(part)", count / 4, time)
        }
        var status = stat()
        stat(scratch.path + "/" + Schema.fileName, &status)
        print("database: \(status.st_size >> 20) MiB")
        let lane = try store.run { try $0.lanes.ready()[0].id }
        printRate(
            "128 waiting tasks", 100,
            try seconds {
                for _ in 0..<100 {
                    try store.run { try $0.lanes.waitingTasks(of: lane, limit: 128) }
                }
            })
        printRate("list 1,000 tasks", 20, try seconds { for _ in 0..<20 { _ = try store.tasks(of: session) } })
        printRate("suspend all", count, try seconds { try store.control(session, .suspend) })
        printRate("resume all", count, try seconds { try store.control(session, .resume) })
        let ends = 20_000
        let done = Lock(0)
        printRate(
            "ends with everything gathered", ends,
            seconds {
                for id in 1...ends {
                    store.thread.perform(
                        { (transaction) throws(Failure) in
                            try transaction.endings.record(
                                TaskID(rawValue: UInt64(id)), Outcome(state: .succeeded), now: 5)
                        }, then: { _ in done.change { $0 += 1 } })
                }
                _ = done.wait(until: nil) { $0 == ends ? true : nil }
            })
        printRate(
            "ends one by one", 200,
            try seconds {
                for id in ends + 1...ends + 200 { try store.end(TaskID(rawValue: UInt64(id))) }
            })
        printRate(
            "acknowledge in batches of 1,000", ends,
            try seconds {
                for last in stride(from: 1_000, through: ends, by: 1_000) {
                    try store.acknowledge(session, .through(EventID(rawValue: UInt64(last))))
                }
            })
        printRate("cancel all", count - ends - 200, try seconds { try store.control(session, .cancel) })
        let newest = try store.info(session)!.newestEvent
        printRate("acknowledge all", count - ends, try seconds { try store.acknowledge(session, .through(newest)) })
        printRate("close", 1, seconds { store.close() })
    }

    @Test("the speed of durable enqueues, each with one task, is printed")
    func single() throws {
        let scratch = Scratch()
        let store = try TestStore(scratch.path)
        let session = try store.session()
        printRate(
            "enqueue one by one", 500,
            try seconds {
                for number in 0..<500 { try store.enqueue([.numbered(number)], in: session) }
            })
    }
}
