import Glibc
import Testing

@testable import BackhaulPlatform

/// A *worker* is a thread that performs posted jobs. It performs all waiting jobs as one *batch*.
@Suite struct WorkerTests {
    private struct Mistake: Error {}

    /// A time limit that is reached only because of a defect.
    private static var timeLimit: Deadline { .after(milliseconds: 30_000) }

    private final class Journal {
        var batches: [Int] = []
    }

    @Test("a worker performs its jobs in order, and `close` returns only after the last job")
    func order() throws {
        let seen = Lock<[Int]>([])
        let worker = try Worker(name: "ordered", make: { 0 })
        for number in 0..<1_000 { worker.post { _ in seen.withLock { $0.append(number) } } }
        worker.close()
        #expect(seen.withLock { $0 } == Array(0..<1_000))
    }

    @Test("jobs that are posted during a batch form the worker's next batch")
    func batches() throws {
        let gate = Lock((isRunning: false, isOpen: false))
        let sizes = Lock<[Int]>([])
        let worker = try Worker(
            name: "batches", make: { Journal() },
            perform: { journal, jobs in
                sizes.withLock { $0.append(jobs.count) }
                for job in jobs { job(journal) }
            })
        worker.post { _ in
            gate.change { $0.isRunning = true }
            _ = gate.wait(until: Self.timeLimit) { $0.isOpen ? () : nil }
        }
        _ = gate.wait(until: Self.timeLimit) { $0.isRunning ? () : nil }
        for _ in 0..<50 { worker.post { _ in } }
        gate.change { $0.isOpen = true }
        worker.close()
        #expect(sizes.withLock { $0 } == [1, 50])
    }

    @Test("if the context for a worker's jobs cannot be created, the start of the worker throws the error")
    func failingContext() {
        #expect(throws: Mistake.self) { try Worker<Int>(name: "failing", make: { throw Mistake() }) }
    }

    @Test("a closed worker refuses jobs, and a second close has no effect")
    func closed() throws {
        let worker = try Worker(name: "closed", make: { 0 })
        worker.close()
        worker.close()
        #expect(!worker.post { _ in Issue.record("a job after close") })
    }

    @Test("a job may close its own worker")
    func closedByItsJob() throws {
        let isDone = Lock(false)
        let worker = try Worker(name: "own", make: { 0 })
        worker.post { _ in
            worker.close()
            isDone.change { $0 = true }
        }
        #expect(isDone.wait(until: Self.timeLimit) { $0 ? true : nil } == true)
    }

    @Test("a worker without references performs its remaining jobs, and then ends")
    func released() throws {
        final class Token: Sendable {
            let isGone: Lock<Bool>
            init(_ isGone: Lock<Bool>) { self.isGone = isGone }
            deinit { isGone.change { $0 = true } }
        }
        let isGone = Lock(false)
        let isPerformed = Lock(false)
        do {
            let worker = try Worker(name: "let go", make: { Token(isGone) })
            worker.post { _ in isPerformed.change { $0 = true } }
        }
        #expect(isGone.wait(until: Self.timeLimit) { $0 ? true : nil } == true)
        #expect(isPerformed.withLock { $0 })
    }

    @Test("the library's threads block all signals, and the thread that starts them keeps its signal mask")
    func signals() throws {
        var before = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &before)
        let blocked = Lock<Bool?>(nil)
        let thread = try Thread(name: "signals") {
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            let all = [SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGUSR1, SIGXFSZ].allSatisfy { sigismember(&mask, $0) == 1 }
            blocked.change { $0 = all }
        }
        thread.join()
        thread.join()
        #expect(blocked.withLock { $0 } == true)
        var after = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &after)
        #expect((1..<32).allSatisfy { sigismember(&before, $0) == sigismember(&after, $0) })
    }
}
