internal import Synchronization

/// The waits of one session for the ends of tasks. One Swift task, the *reader*, reads the session's events for all
/// waits. It runs only while there are waits.
final class EndingReader: Sendable {
    private typealias Endings = AsyncThrowingStream<TaskEnding, any Error>

    private struct State {
        var waits: [TaskID: [UInt64: Endings.Continuation]] = [:]
        /// The tasks that had ended when their waits began.
        var ended: Set<TaskID> = []
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
            read(session, ended: task.state.hasEnded ? id : nil)
        } else {
            finishUnlisted(id, try await session.inHistory(id))
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
            if state.waits[id]?.isEmpty == true {
                state.waits[id] = nil
                state.ended.remove(id)
            }
            guard state.waits.isEmpty else { return }
            state.reader?.cancel()
            state.reader = nil
        }
    }

    /// Starts the reader. If a reader runs, and the task `ended` has ended before its wait, a new reader replaces it,
    /// because the present one may have read the event of this task before the wait began.
    private func read(_ session: Session, ended: TaskID?) {
        state.withLock { state in
            if let ended { state.ended.insert(ended) }
            guard state.reader == nil || ended != nil else { return }
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
                if events.isEmpty {
                    try await finishAcknowledged(session)
                    try await session.eventsReady(since: polls)
                }
            }
        } catch {
            // A reader is cancelled if another one replaces it, or if there are no waits.
            if Task.isCancelled { return }
            fail(error)
        }
    }

    /// Ends the waits for tasks whose events the reader does not find, because the host acknowledged them after the
    /// wait had found the task in the list.
    private func finishAcknowledged(_ session: Session) async throws {
        for id in state.withLock({ $0.ended }) {
            if try await session.listed(id) == nil { finishUnlisted(id, try await session.inHistory(id)) }
        }
    }

    /// Ends the waits for a task that is not in the list. `task` is the task in the history; nil if it is not there.
    private func finishUnlisted(_ id: TaskID, _ task: TaskInfo?) {
        let waits = state.withLock { $0.waits[id] }
        for continuation in (waits ?? [:]).values {
            if let task { continuation.yield(TaskEnding(task)) }
            continuation.finish(throwing: task == nil ? BackhaulError.unknownTask(id) : nil)
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
