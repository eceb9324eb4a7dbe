internal import Synchronization

/// The waits of one session for the ends of tasks. One Swift task, the *reader*, reads the session's events for all
/// waits. It runs only while there are waits.
final class EndingReader: Sendable {
    private typealias Endings = AsyncThrowingStream<TaskEnding, any Error>

    private struct State {
        var waits: [TaskID: [UInt64: Endings.Continuation]] = [:]
        var lastNumber: UInt64 = 0
        var reader: Task<Void, Never>?
        var wereUsed = false
        /// The events about the ends of rounds and groups that the reader has read.
        var readEnds: Set<EventID> = []
    }

    private let state = Mutex(State())

    /// Whether the host has waited for the end of a task.
    var wereUsed: Bool { state.withLock { $0.wereUsed } }

    /// The events about the ends of rounds and groups that the reader has read. The host may also have read them.
    var readEnds: Set<EventID> { state.withLock { $0.readEnds } }

    func use() { state.withLock { $0.wereUsed = true } }

    /// Waits for the end of the task. If the host has acknowledged the end, the history has the result.
    func ending(of id: TaskID, in session: Session) async throws -> TaskEnding {
        use()
        let (endings, continuation) = Endings.makeStream()
        // The wait is added before the task's state is read. So if the task ends meanwhile, the wait gets the event.
        let number = add(continuation, id)
        defer { remove(number, id) }
        if let task = try await session.listed(id) {
            read(session, fromStart: task.state.hasEnded)
        } else if let task = try await session.inHistory(id) {
            continuation.yield(TaskEnding(task))
        } else {
            continuation.finish(throwing: BackhaulError.unknownTask(id))
        }
        for try await ending in endings { return ending }
        throw CancellationError()
    }

    /// Passes the events of a poll to the waits. Any poll of the session may return the event for which a wait waits.
    func received(_ events: [Event]) {
        for case .taskEnded(let ending) in events {
            let waits = state.withLock { $0.waits[ending.taskID] }
            for continuation in (waits ?? [:]).values { continuation.yield(ending) }
        }
    }

    private func add(_ continuation: Endings.Continuation, _ id: TaskID) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.waits[id, default: [:]][state.lastNumber] = continuation
            return state.lastNumber
        }
    }

    private func remove(_ number: UInt64, _ id: TaskID) {
        state.withLock { state in
            state.waits[id]?[number] = nil
            if state.waits[id]?.isEmpty == true { state.waits[id] = nil }
            guard state.waits.isEmpty else { return }
            state.reader?.cancel()
            state.reader = nil
        }
    }

    /// Starts the reader. If a reader runs, and `fromStart` is true, a new reader replaces it, because the present one
    /// may have read the event of an ended task before this wait began.
    private func read(_ session: Session, fromStart: Bool) {
        state.withLock { state in
            guard state.reader == nil || fromStart else { return }
            state.reader?.cancel()
            state.reader = Task { await self.read(session) }
        }
    }

    private func read(_ session: Session) async {
        do {
            var cursor: EventID?
            while true {
                let polls = session.fruitfulPolls
                // The method passes the events to `received`.
                let events = try await session.receive(after: cursor, maximum: 1000).events
                cursor = events.last?.id ?? cursor
                state.withLock { $0.readEnds.formUnion(events.filter(\.isEndOfTasks).map(\.id)) }
                if events.isEmpty { try await session.eventsReady(since: polls) }
            }
        } catch {
            // A reader is cancelled if another one replaces it, or if there are no waits.
            if Task.isCancelled { return }
            fail(error)
        }
    }

    private func fail(_ error: any Error) {
        let waits = state.withLock { state in
            state.reader = nil
            return state.waits.values.flatMap(\.values)
        }
        for continuation in waits { continuation.finish(throwing: error) }
    }
}
