import Glibc
import Testing

@testable import BackhaulPlatform

/// A *worker* is a thread that performs posted jobs.
@Suite struct WorkerTests {
    private struct Mistake: Error {}

    /// A time limit that is reached only because of a defect.
    private static var timeLimit: Deadline { .after(milliseconds: 30_000) }

    private final class Journal {
        var numbers: [Int] = []
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

    @Test("a worker without jobs performs its idle work once after each batch that needs it")
    func idle() throws {
        let done = Lock<[Int]>([])
        let worker = try Worker(
            name: "idle", make: { Journal() },
            idle: .init(
                after: 1, if: { $0.numbers.last != 0 },
                perform: { journal in done.change { $0.append(journal.numbers.count) } }))
        worker.post { $0.numbers.append(1) }
        #expect(done.wait(until: Self.timeLimit) { $0 == [1] ? () : nil } != nil)
        worker.post { $0.numbers.append(0) }
        worker.post { $0.numbers.append(2) }
        #expect(done.wait(until: Self.timeLimit) { $0.last == 3 ? () : nil } != nil)
        worker.close()
        #expect(done.withLock { $0 } == [1, 3])
    }

    /// A deadline that no test waits for.
    private static var anHour: Deadline { .after(milliseconds: 3_600_000) }

    /// A worker whose jobs add numbers to a list. `batches` has the list of each batch.
    private struct Recorder {
        let batches = Lock<[[Int]]>([])
        let worker: Worker<Journal>

        init() throws {
            worker = try Worker(
                name: "recorder", make: { Journal() },
                perform: { [batches] journal, jobs in
                    journal.numbers = []
                    for job in jobs { job(journal) }
                    batches.change { $0.append(journal.numbers) }
                })
        }

        func post(_ number: Int, delayedUpTo deadline: Deadline? = nil) {
            worker.post({ $0.numbers.append(number) }, delayedUpTo: deadline)
        }

        /// Waits until the worker has performed the number of jobs. Returns the batches.
        func batches(ofJobs count: Int) -> [[Int]]? {
            batches.wait(until: WorkerTests.timeLimit) { $0.joined().count >= count ? $0 : nil }
        }
    }

    @Test("a delayed job is performed in one batch with the next job, in the order in which the jobs were posted")
    func delayed() throws {
        let recorder = try Recorder()
        recorder.post(1, delayedUpTo: Self.anHour)
        recorder.post(2, delayedUpTo: Self.anHour)
        recorder.post(3)
        #expect(recorder.batches(ofJobs: 3) == [[1, 2, 3]])
        recorder.post(4, delayedUpTo: Self.anHour)
        recorder.post(5)
        #expect(recorder.batches(ofJobs: 5) == [[1, 2, 3], [4, 5]])
        recorder.worker.close()
    }

    @Test("a delayed job is performed after its deadline, even if no other job is posted")
    func delayEnds() throws {
        let recorder = try Recorder()
        recorder.post(1, delayedUpTo: .after(milliseconds: 5))
        #expect(recorder.batches(ofJobs: 1) == [[1]])
        recorder.worker.close()
    }

    @Test("if a later delayed job has an earlier deadline, this deadline counts for all delayed jobs")
    func earlierDeadline() throws {
        let recorder = try Recorder()
        recorder.post(1, delayedUpTo: Self.anHour)
        recorder.post(2, delayedUpTo: .after(milliseconds: 5))
        #expect(recorder.batches(ofJobs: 2) == [[1, 2]])
        recorder.worker.close()
    }

    @Test("if many delayed jobs wait, they are performed without another job")
    func manyDelayed() throws {
        let recorder = try Recorder()
        let numbers = Array(0..<Worker<Journal>.maximumWaiting)
        for number in numbers { recorder.post(number, delayedUpTo: Self.anHour) }
        #expect(recorder.batches(ofJobs: numbers.count) == [numbers])
        recorder.worker.close()
    }

    @Test("a worker that closes performs its delayed jobs at once")
    func delayedAtClose() throws {
        for closesWithDeadline in [false, true] {
            let recorder = try Recorder()
            recorder.post(1, delayedUpTo: Self.anHour)
            recorder.post(2, delayedUpTo: Self.anHour)
            if closesWithDeadline {
                #expect(recorder.worker.close(until: Self.timeLimit))
            } else {
                recorder.worker.close()
            }
            #expect(recorder.batches.withLock { $0 } == [[1, 2]])
        }
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
