import Backhaul

/// What one reading of a store has found for the desktop.
struct DesktopReading {
    /// The sessions whose transfers run, or will soon, or are suspended from the desktop.
    var jobs: [SessionKey: JobProgress] = [:]
    /// The number of transfers that run.
    var running = 0
    /// The rounds that have ended since the last reading.
    var results: [SessionKey: RoundResult] = [:]
    /// The open challenges of each session that has some.
    var challenges: [SessionKey: [Challenge]] = [:]

    /// Whether a session has transfers that run, or will soon.
    var isActive: Bool { jobs.values.contains { !$0.isSuspended } }
}

/// Reads the sessions of a store for the desktop. While nothing runs or will soon, it has no connection to the engine,
/// so that the daemon can exit.
final class DesktopSessions {
    private struct Record {
        var progress = RoundProgress()
        var rounds = EndedRounds()
        /// Whether the desktop has suspended the transfers.
        var isSuspended = false
    }

    private let context: Context
    private let store: String
    private let start = Clock.wallMilliseconds
    private var application: Application?
    private var reader: StoreReader?
    private var records: [SessionKey: Record] = [:]
    /// The sessions as the last listing had them.
    private var listed: [SessionKey: [UInt64]] = [:]
    private var last = DesktopReading()

    init(_ context: Context, store: String) {
        self.context = context
        self.store = store
    }

    /// Reads the sessions. Without an engine, nothing runs, and nothing else changes.
    func read() throws(CommandError) -> DesktopReading {
        last.results = [:]
        var isRead = false
        if StoreLock.isHeld(in: store) {
            do {
                try readEngine()
                isRead = true
            } catch {
                // The engine has ended meanwhile, or cannot be read. The next change causes another reading.
                guard case .failure = error else { throw error }
            }
        }
        if !isRead {
            last.running = 0
            last.jobs = suspendedJobs
        }
        if !last.isActive { disconnect() }
        return last
    }

    /// A session that is opened, even by an observer, is recorded in the store. So the transfers are read only if one
    /// runs or will soon, or the listing of sessions has changed. Otherwise each reading would cause another one. The
    /// listing does not show that waiting transfers were suspended or held. While some will run soon, the connection
    /// and its sessions stay open.
    private func readEngine() throws(CommandError) {
        let application = try connected()
        let (names, running) = try applications(application)
        var present: [SessionKey: [UInt64]] = [:]
        for name in names {
            for info in try application.other(name).run(.sessions) {
                let state = [info.round, info.liveTasks, info.events, info.openChallenges]
                present[SessionKey(application: name, name: info.identifier)] = state
            }
        }
        guard running > 0 || last.isActive || present != listed else { return }
        var reading = DesktopReading()
        // A result is found once, so it is reported even if a later session cannot be read.
        defer { last.results = reading.results }
        let reader = reader ?? StoreReader(context, application)
        self.reader = reader
        try reader.read()
        for session in reader.sessions {
            do {
                try add(session, to: &reading)
            } catch {
                guard error.isSessionGone else { throw error }
            }
        }
        records = records.filter { present[$0.key] != nil }
        last = reading
        // Without a reply, the reader keeps what it had. The next change then causes another reading.
        if reader.snapshot.problem == nil { listed = present }
    }

    private func connected() throws(CommandError) -> Application {
        if let application { return application }
        let made = try Application(observing: store, identifier: context.applicationName, signals: context.signals)
        application = made
        return made
    }

    private func disconnect() {
        reader = nil
        application?.close()
        application = nil
    }

    /// The applications to show, and the number of their transfers that run.
    private func applications(_ application: Application) throws(CommandError) -> (names: [String], running: UInt64) {
        let shown = try application.run(.applications).filter {
            !context.isApplicationNamed || $0.identifier == context.applicationName
        }
        return (shown.map(\.identifier), shown.reduce(0) { $0 + $1.runningTasks })
    }

    private func add(_ session: FollowedSession, to reading: inout DesktopReading) throws(CommandError) {
        guard let info = session.info else { return }
        let key = session.key
        var record = records[key] ?? Record()
        record.progress.update(session.rows.rows, isComplete: session.rows.isComplete, round: info.round) { verb in
            let place = key.place(in: context)
            return place.isEmpty ? verb : "\(verb) (\(place))"
        }
        if record.progress.isActive || !record.progress.hasSuspended { record.isSuspended = false }
        if record.progress.isActive || record.isSuspended {
            reading.jobs[key] = record.progress.job(isSuspended: record.isSuspended)
        }
        reading.running += record.progress.running
        if info.openChallenges > 0 { reading.challenges[key] = try session.handle.run(.challenges) }
        reading.results[key] = try result(session, info, &record.rounds)
        records[key] = record
    }

    /// Returns the result of the rounds that have ended since the last reading. Nil if there is nothing to report.
    private func result(
        _ session: FollowedSession, _ info: SessionInfo, _ rounds: inout EndedRounds
    ) throws(CommandError) -> RoundResult? {
        let lowest = session.rows.rows.first { !$0.task.hasEnded }?.key.id.rawValue
        guard var ended = rounds.begin(round: info.round, liveTasks: info.liveTasks, lowest: lowest, since: start)
        else { return nil }
        // A transfer moves from the list to the history, so the list is read first.
        let cursor = TaskID(rawValue: ended.after)
        try session.handle.forEachPage(.all, after: cursor) {
            ended.count($0); return true
        }
        try session.handle.forEachPageOfHistory(after: cursor) { ended.count($0) }
        rounds.end(ended)
        return ended.result.isEmpty ? nil : ended.result
    }

    /// The sessions that the desktop has suspended. They stay on the desktop while no engine runs.
    private var suspendedJobs: [SessionKey: JobProgress] {
        records.filter(\.value.isSuspended).mapValues { $0.progress.job(isSuspended: true) }
    }

    /// Performs what the user has chosen on the desktop. If no engine runs, the daemon is started.
    func perform(_ request: JobRequest, _ key: SessionKey) throws(CommandError) {
        _ = try context.withApplication { (application) throws(CommandError) in
            try application.other(key.application).attach(key.name, role: .produce).run(request.verb)
            return .done
        }
        records[key]?.isSuspended = request == .suspend
        // The listing of sessions does not show which transfers are suspended.
        listed = [:]
    }
}

/// What a user can choose for a session on the desktop.
enum JobRequest: Equatable {
    case suspend, resume, cancel

    var verb: Verb<Backhaul.Session, UInt64> {
        get throws(BackhaulError) {
            switch self {
            case .suspend: try .suspend(.states([.running, .waiting]))
            case .resume: try .resume(.states([.suspended]))
            case .cancel: try .cancel(.states(TaskSelection.live))
            }
        }
    }
}
