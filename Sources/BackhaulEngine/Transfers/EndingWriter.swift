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
    /// While many other tasks run, an end waits until this time has passed since the last write. A transaction costs
    /// more than the ends in it, so several ends share one transaction.
    static let intervalMilliseconds: Int64 = 10
    /// This many waiting ends are written at once, because the cost of the transaction is then small for each end.
    static let maximumWaiting = 8
    /// If fewer other tasks run, ends do not wait, because further ends are unlikely. A host may enqueue its next file
    /// only when it has the event of the last file.
    static let fewestOtherTasks = 8

    private let runtime: any Runtime
    private let events: EventPublisher
    private let runningTasks: () -> Int
    private var timer: (any RuntimeTimer)?
    private var waiting: [Ending] = []
    /// The number of ends that the store is writing.
    private var beingWrittenCount = 0
    private var isCheckScheduled = false
    private var lastWrite: Int64?

    /// `runningTasks` returns the number of running tasks, including those whose ends are not written yet. It returns 0
    /// when the engine stops.
    init(_ runtime: any Runtime, _ events: EventPublisher, runningTasks: @escaping () -> Int) {
        self.runtime = runtime
        self.events = events
        self.runningTasks = runningTasks
        timer = runtime.timer { [unowned self] in
            flush()
            return []
        }
    }

    /// Writes the task's end after this iteration of the loop, or a few milliseconds later with further ends.
    func write(_ ending: Ending) {
        if !isCheckScheduled {
            isCheckScheduled = true
            runtime.afterThisIteration { [unowned self] in
                writeOrWait()
                return []
            }
        }
        waiting.append(ending)
    }

    /// Writes the waiting ends now. The engine calls this function when it begins to stop: if an end were not stored,
    /// the next engine would send a completed upload again. The engine also calls it before a command that changes
    /// tasks, so that the command finds the ends of the tasks that have ended.
    func flush() {
        isCheckScheduled = false
        guard !waiting.isEmpty else { return }
        timer?.stop()
        lastWrite = runtime.now
        let all = Dictionary(grouping: waiting, by: \.session)
        waiting = []
        for (session, endings) in all { write(endings, of: session) }
    }

    /// Repeats a failed write of an end, immediately and without other ends.
    func retryWrite(_ ending: Ending) { write([ending], of: ending.session) }

    private func writeOrWait() {
        isCheckScheduled = false
        guard !waiting.isEmpty else { return }
        let pause = lastWrite.map { $0 + Self.intervalMilliseconds - runtime.now } ?? 0
        let others = runningTasks() - waiting.count - beingWrittenCount
        if pause > 0, waiting.count < Self.maximumWaiting, others >= Self.fewestOtherTasks {
            timer?.start(milliseconds: pause)
        } else {
            flush()
        }
    }

    private func write(_ endings: [Ending], of session: SessionID) {
        let readsEvents = events.pushes(session)
        beingWrittenCount += endings.count
        runtime.store({ (transaction) throws(Failure) in
            for ending in endings { try ending.also?(transaction) }
            return try transaction.endings.record(
                endings.map(\.end), now: Clock.wallMilliseconds, readsEvents: readsEvents)
        }, then: { [unowned self] result in
            beingWrittenCount -= endings.count
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
