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

/// Writes the ends of running tasks. Many tasks with small files may end together. So one transaction writes all ends
/// that belong to one session and to one iteration of the event loop. The transaction also writes the session's
/// counters and events.
///
/// Each engine has one object of this type. It owns the ends of the present iteration.
final class EndingWriter {
    private let runtime: any Runtime
    private let events: EventPublisher
    private var endings: [SessionID: [Ending]] = [:]

    init(_ runtime: any Runtime, _ events: EventPublisher) {
        self.runtime = runtime
        self.events = events
    }

    /// Writes the task's end after this iteration of the loop.
    func write(_ ending: Ending) {
        if endings.isEmpty {
            runtime.afterThisIteration { [unowned self] in
                writeAll()
                return []
            }
        }
        endings[ending.session, default: []].append(ending)
    }

    /// Repeats a failed write of an end, immediately and without other ends.
    func retryWrite(_ ending: Ending) { write([ending], of: ending.session) }

    private func writeAll() {
        let all = endings
        endings = [:]
        for (session, endings) in all { write(endings, of: session) }
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
