import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulStore

@Suite("Durability")
struct DurabilityTests {
    let scratch = Scratch()

    private func notes() -> [Int] {
        let number = open(scratch.path + "/notes", O_RDONLY)
        guard number >= 0 else { return [] }
        defer { close(number) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(number, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    @Test(
        "confirmed chunks of requests survive kill -9, and no chunk is stored only in part",
        arguments: 1...6)
    func killed(round: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String, round = round as Int] in
            let notes = open(path + "/notes", O_WRONLY | O_CREAT | O_APPEND, 0o600)
            let store = try TestStore(path + "/store")
            let session = try store.session()
            let confirmed = Lock(0)
            let victim = try BackhaulPlatform.Thread(name: "killer") {
                // The process is killed after some confirmations, while the store's thread works.
                _ = confirmed.wait(until: nil) { $0 >= round * 7 ? true : nil }
                kill(getpid(), SIGKILL)
            }
            for chunk in 0..<100_000 {
                store.thread.perform(
                    { (transaction) throws(Failure) in
                        let requests = (0..<10).map { (Request.numbered(chunk * 10 + $0), Origin.example) }
                        return try transaction.tasks.enqueue(requests, in: session, now: 1).results.count
                    },
                    then: { result in
                        guard case .success = result else { return }
                        let line = "\(chunk)\n"
                        write(notes, line, line.utf8.count)
                        confirmed.change { $0 += 1 }
                    })
            }
            victim.join()
        }
        let confirmed = notes()
        #expect(confirmed.count >= round * 7)
        let store = try TestStore(scratch.path + "/store")
        let session = try store.session()
        var found: [Int: Int] = [:]
        var after = TaskID.zero
        while true {
            let cursor = after
            let page = try store.run {
                try $0.listing.tasks(
                    of: session, TaskSelection(), after: cursor, maximum: 10_000, running: [], bootMilliseconds: 0,
                    now: 0)
            }
            for task in page.tasks {
                found[try #require(Int(task.url.dropFirst("https://example.org/files/".count))) / 10, default: 0] += 1
            }
            guard page.more, let last = page.tasks.last else { break }
            after = last.id
        }
        #expect(confirmed.allSatisfy { found[$0] == 10 })
        #expect(found.values.allSatisfy { $0 == 10 })
        #expect(try store.info(session)?.liveTasks == UInt64(found.count * 10))
    }

    @Test("confirmed ends of tasks and confirmed acknowledgements survive kill -9, and the counters match the rows")
    func ends() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let notes = open(path + "/notes", O_WRONLY | O_CREAT | O_APPEND, 0o600)
            let store = try TestStore(path + "/store")
            let session = try store.session()
            let ids = try store.enqueue((0..<500).map { .numbered($0) }, in: session)
            let count = Lock(0)
            for (position, id) in ids.enumerated() {
                store.thread.perform(
                    { (transaction) throws(Failure) in
                        let change = try transaction.endings.record(id, Outcome(state: .succeeded), now: 1)
                        if position % 3 == 0, let newest = change?.newestEvent {
                            _ = try transaction.events.acknowledge(session, .ids([newest]))
                            return true
                        }
                        return false
                    },
                    then: { result in
                        guard let isAcknowledged = try? result.get() else { return }
                        let line = "\(isAcknowledged ? -Int(id.rawValue) : Int(id.rawValue))\n"
                        write(notes, line, line.utf8.count)
                        let total = count.withLock { value in
                            value += 1
                            return value
                        }
                        if total == 250 { kill(getpid(), SIGKILL) }
                    })
            }
            pause()
        }
        let confirmed = notes()
        let store = try TestStore(scratch.path + "/store")
        let session = try store.session()
        let events = try store.events(of: session)
        let ended = Set(events.compactMap { $0.task.map { Int($0.id.rawValue) } })
        #expect(confirmed.filter { $0 > 0 }.allSatisfy(ended.contains))
        #expect(confirmed.filter { $0 < 0 }.allSatisfy { !ended.contains(-$0) })
        let info = try #require(try store.info(session))
        #expect(info.events == UInt64(events.count))
        let live = try store.tasks(of: session, TaskSelection(states: .live))
        #expect(info.liveTasks == UInt64(live.count))
    }
}
