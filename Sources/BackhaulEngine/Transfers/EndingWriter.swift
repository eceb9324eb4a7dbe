internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The end of a running task, which is one download or upload.
struct Ending: Sendable {
    let end: TaskEnd
    let attempt: UInt64
    let session: SessionID
    /// Whether the server may have processed a request that must not be repeated. Such an end is written without delay:
    /// if the engine were killed before, the next engine could not find out whether the request has succeeded.
    let hasSentUnrepeatableRequest: Bool
    /// Further work in the transaction that writes the end.
    let also: (@Sendable (Transaction) throws(Failure) -> Void)?
}

/// Writes the ends of running tasks. Many tasks with small files may end together. So one transaction writes all ends
/// of one session in one iteration of the loop. The transaction also writes the session's counters and events. If
/// further ends are expected soon, the store may delay the transaction for a few milliseconds.
///
/// Each engine has one object of this type. It owns the ends of the present iteration until it passes them to the
/// store.
final class EndingWriter {
    private let runtime: any Runtime
    private let events: EventPublisher
    private let runningTasks: () -> Int
    private var forecast = EndingForecast()
    private var waiting: [Ending] = []
    /// The number of ends that the store has not written yet, because it writes or delays them.
    private var beingWrittenCount = 0
    private var isWriteScheduled = false

    /// `runningTasks` returns the number of running tasks, including those whose ends are not written yet. It returns 0
    /// when the engine stops.
    init(_ runtime: any Runtime, _ events: EventPublisher, runningTasks: @escaping () -> Int) {
        self.runtime = runtime
        self.events = events
        self.runningTasks = runningTasks
    }

    /// Whether so many tasks end that further ends are expected within a few milliseconds.
    var expectsFurtherEnds: Bool {
        forecast.expectsFurtherEnds(otherTasks: runningTasks() - waiting.count - beingWrittenCount, now: runtime.now)
    }

    /// Writes the task's end after this iteration of the loop, together with the other ends of this iteration.
    func write(_ ending: Ending) {
        if !isWriteScheduled {
            isWriteScheduled = true
            runtime.afterThisIteration { [unowned self] in
                isWriteScheduled = false
                writeAll(mayBeDelayed: expectsFurtherEnds && !waiting.contains(where: \.hasSentUnrepeatableRequest))
                return []
            }
        }
        waiting.append(ending)
    }

    /// Writes the waiting ends now. The engine calls this function when it begins to stop: if an end were not stored,
    /// the next engine would send a completed upload again. The engine also calls it before a command that changes
    /// tasks, so that the command finds the ends of the tasks that have ended. If the store delays earlier ends, it
    /// writes them before the command, because bodies keep their order.
    func flush() { writeAll(mayBeDelayed: false) }

    private func writeAll(mayBeDelayed: Bool) {
        guard !waiting.isEmpty else { return }
        forecast.record(waiting.count, now: runtime.now)
        let all = Dictionary(grouping: waiting, by: \.session)
        waiting = []
        for (session, endings) in all.sorted(by: { $0.key < $1.key }) {
            write(endings, of: session, mayBeDelayed: mayBeDelayed)
        }
    }

    /// Repeats a failed write of an end, immediately and without other ends.
    func retryWrite(_ ending: Ending) { write([ending], of: ending.session, mayBeDelayed: false) }

    private func write(_ endings: [Ending], of session: SessionID, mayBeDelayed: Bool) {
        let readsEvents = events.pushes(session)
        beingWrittenCount += endings.count
        runtime.store(
            { [clocks = runtime.clocks] (transaction) throws(Failure) in
                for ending in endings { try ending.also?(transaction) }
                return try transaction.endings.record(
                    endings.map(\.end), now: clocks.wallMilliseconds, readsEvents: readsEvents)
            }, mayBeDelayed: mayBeDelayed,
            then: { [unowned self] result in
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
