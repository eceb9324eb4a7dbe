internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The end of a running task, which is one download or upload.
struct Ending: Sendable {
    let end: TaskEnd
    let attempt: UInt64
    let session: SessionID
    /// Further work in the transaction that writes the end.
    let also: (@Sendable (Transaction) throws(Failure) -> Void)?
}

/// Writes the ends of running tasks. Many tasks with small files may end together. So one transaction writes all
/// waiting ends of one session. The transaction also writes the session's counters and events.
///
/// Each engine has one object of this type. It owns the ends that wait for their transaction.
final class EndingWriter {
    /// While many tasks run, an end waits until this time has passed since the last write. A transaction costs as much
    /// as many ends, so the ends that wait share one.
    static let pauseMilliseconds: Int64 = 10
    /// As many ends do not wait, because a transaction for them is worth its cost.
    static let endsOfFullTransaction = 8

    private let runtime: any Runtime
    private let events: EventPublisher
    private let mayWait: (Int) -> Bool
    private var timer: (any RuntimeTimer)?
    private var endings: [SessionID: [Ending]] = [:]
    /// The number of elements in `endings`.
    private var waiting = 0
    /// Whether `writeOrWait` runs after this iteration.
    private var isChecking = false
    private var lastWrite: Int64?

    /// `mayWait` gets the number of waiting ends, and returns whether they may wait for further ends.
    init(_ runtime: any Runtime, _ events: EventPublisher, mayWait: @escaping (Int) -> Bool) {
        self.runtime = runtime
        self.events = events
        self.mayWait = mayWait
        timer = runtime.timer { [unowned self] in
            flush()
            return []
        }
    }

    /// Writes the task's end after this iteration of the loop. If there was a write a few milliseconds ago, the end may
    /// wait for further ends.
    func write(_ ending: Ending) {
        if !isChecking {
            isChecking = true
            runtime.afterThisIteration { [unowned self] in
                isChecking = false
                writeOrWait()
                return []
            }
        }
        endings[ending.session, default: []].append(ending)
        waiting += 1
    }

    /// Writes the waiting ends now. The engine calls this function before it ends. Otherwise the next engine would send
    /// a completed upload again.
    func flush() {
        guard waiting > 0 else { return }
        timer?.stop()
        lastWrite = runtime.now
        let all = endings
        (endings, waiting) = ([:], 0)
        for (session, endings) in all { write(endings, of: session) }
    }

    /// Repeats a failed write of an end, immediately and without other ends.
    func retryWrite(_ ending: Ending) { write([ending], of: ending.session) }

    private func writeOrWait() {
        let pause = lastWrite.map { $0 + Self.pauseMilliseconds - runtime.now } ?? 0
        if pause > 0, waiting < Self.endsOfFullTransaction, mayWait(waiting) {
            timer?.start(milliseconds: pause)
        } else {
            flush()
        }
    }

    private func write(_ endings: [Ending], of session: SessionID) {
        let readsEvents = events.pushes(session)
        runtime.store({ (transaction) throws(Failure) in
            for ending in endings { try ending.also?(transaction) }
            return try transaction.endings.record(
                endings.map(\.end), now: Clock.wallMilliseconds, readsEvents: readsEvents)
        }, then: { result in
            switch result {
            case .success(let change):
                // A test may choose the end after which it kills the process. So each end of the transaction is
                // counted.
                for _ in endings { CrashPoint.afterEnd.reach() }
                return [.ended(endings, change)]
            // After a failure, each end is written alone. So an end that cannot be written delays no other end.
            case .failure(let failure): return endings.map { .notEnded($0, failure) }
            }
        })
    }
}
