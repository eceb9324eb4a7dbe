internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Times at which waiting tasks change without getting a slot: the ends of resource time-outs, and latest starts, after
/// which a task ignores the wishes of its preset.
///
/// Each store has one. Running tasks look at their own time-outs.
final class DeadlineController {
    private static let lookMilliseconds: Int64 = 5_000
    private static let retryMilliseconds: Int64 = 1_000
    /// At most so many tasks end with one look.
    private static let overdueLimit = 256

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let scheduler: TaskScheduler
    private let calendar: CalendarWatch
    private var lastLook: Int64 = 0
    /// When the resource time-out of the next task ends in sessions with held tasks, by the calendar of the rows' ages.
    private var nextEnds: [SessionID: Int64] = [:]
    /// Sessions whose next end is read at the end of this turn.
    private var sessionsToRead: Set<SessionID> = []
    /// When the next latest start comes, in Unix milliseconds.
    private var latestStart: Int64?

    init(_ runtime: any Runtime, _ sessions: SessionTable, _ scheduler: TaskScheduler, _ calendar: CalendarWatch) {
        self.runtime = runtime
        self.sessions = sessions
        self.scheduler = scheduler
        self.calendar = calendar
    }

    // MARK: Resource time-outs

    /// Ends ready tasks whose time is over. They are the next of their lanes and mostly the oldest. Called while
    /// something runs, which is why they wait.
    func endOverdueReadyTasks() -> [EngineEffect] {
        guard runtime.now - lastLook >= Self.lookMilliseconds else { return [] }
        lastLook = runtime.now
        let overdue = scheduler.ready.values.lazy.filter { [self] task in
            sessions[task.session].map { calendar.remainingMilliseconds(of: task, $0) <= 0 } ?? false
        }
        return [.endOverdue(Array(overdue.prefix(Self.overdueLimit)))]
    }

    /// Tasks of the session are held, perhaps until their time is over.
    func tasksAreHeld(of session: SessionID) {
        if sessionsToRead.isEmpty {
            runtime.afterThisTurn { [unowned self] in
                let sessions = sessionsToRead
                sessionsToRead = []
                for session in sessions { readNextEnd(of: session) }
                return []
            }
        }
        sessionsToRead.insert(session)
    }

    private func readNextEnd(of session: SessionID) {
        runtime.storeUntilDone({ (transaction) throws(Failure) in
            try transaction.tasks.nextEndOfTime(of: session)
        }, then: { [unowned self] end in
            nextEnds[session] = end
            return [.planLook]
        })
    }

    /// Nothing is held in other sessions.
    func forgetEnds(except sessions: @autoclosure () -> Set<SessionID>) {
        guard !nextEnds.isEmpty else { return }
        let held = sessions()
        nextEnds = nextEnds.filter { held.contains($0.key) }
    }

    /// Ends held tasks whose time is over.
    private func endOverdueHeldTasks() {
        let now = calendar.milliseconds
        for (session, end) in nextEnds where end <= now {
            nextEnds[session] = nil
            runtime.storeUntilDone({ (transaction) throws(Failure) in
                try transaction.tasks.overdue(of: session, limit: Self.overdueLimit, now: now)
            }, then: { overdue in [.endOverdue(overdue), .tasksAreHeld(of: session)] })
        }
    }

    /// The calendar was set, and the times of all rows moved with it.
    func calendarStepped(by step: Int64) -> [EngineEffect] {
        nextEnds = nextEnds.mapValues { end in
            let (moved, overflow) = end.addingReportingOverflow(step)
            return overflow ? end : moved
        }
        return [.planLook]
    }

    // MARK: Latest starts

    /// - time: Unix milliseconds; nil: no further latest start is known.
    func latestStart(at time: Int64?) -> [EngineEffect] {
        guard let time, time < latestStart ?? .max else { return [] }
        latestStart = time
        return [.planLook]
    }

    private func passLatestStarts() {
        let now = Clock.wallMilliseconds
        guard let next = latestStart, next <= now else { return }
        latestStart = nil
        runtime.store({ (transaction) throws(Failure) in
            try transaction.starts.movePastLatestStart(now: now)
        }, then: { [unowned self] result in
            // The store cannot commit for now.
            guard case .success(let moved) = result else { return latestStart(at: now + Self.retryMilliseconds) }
            return [.restated(moved), .tasksWait(in: moved.lanes, reload: true)] + latestStart(at: moved.next)
        })
    }

    // MARK: When to look

    /// The calendar first: a clock step moves the times that are in the store when it is noticed, and what is judged by
    /// the new time comes after it.
    func look() {
        calendar.look()
        passLatestStarts()
        endOverdueHeldTasks()
    }

    /// Milliseconds until the next deadline.
    var untilNext: Int64? {
        let ends = nextEnds.values.map { $0 - calendar.milliseconds }
        let start = latestStart.map { $0 - Clock.wallMilliseconds }
        return (ends + [start].compactMap(\.self)).min()
    }
}
