import Backhaul

/// Reads the transfers of the store for the live screen. No other part of the screen asks the engine for transfers.
///
/// The running transfers, the new ones, and those on the screen are read each time. The others are read in rotation,
/// some at a time, so that a long list costs no more than a short one.
final class StoreReader {
    /// The most transfers that are read in rotation each time.
    private static let rotationStep = 500
    /// The same until all transfers have been read once.
    private static let firstStep = 5000
    private static let pageSize = 1000
    /// The most transfers of the screen.
    private static let mostRows = 100_000
    /// At most 1,024 transfers run at a time.
    private static let mostRunning = 1024
    private static let engineInterval: Int64 = 5000

    /// The most sessions that a sentence names.
    private static let mostNames = 20
    /// The most applications whose sessions are read. Each of them is a connection to the engine.
    private static let mostApplications = 100

    private let context: Context
    private let application: Application
    private var applications: [Application] = []
    /// The number of unfinished transfers of the other applications.
    private var liveElsewhere = 0
    private let listed: SessionList
    private var followed: [FollowedSession] = []
    /// The names of the sessions that the screen does not show.
    private var otherNames: Set<String> = []
    private var engineText = ""
    private var nextEngineReading: Int64 = 0
    private var history = RateHistory()
    private(set) var snapshot = MonitorSnapshot()
    /// The transfers on the screen.
    var visible: [RowKey] = []

    /// The sessions of the screen: all, or those with one name and their variants.
    enum SessionList {
        case all
        case named(String)

        func has(_ name: String) -> Bool {
            switch self {
            case .all: true
            case .named(let base): name == base || SessionVariant.isVariant(name, of: base)
            }
        }

        /// A sentence that says that no session has the name, and which other sessions there are.
        func absence(_ others: Set<String>) -> String? {
            guard case .named(let name) = self else { return nil }
            let shown = others.sorted().prefix(StoreReader.mostNames).map { "'\($0)'" }
            let rest = others.count > shown.count ? " and \(others.count - shown.count) more" : ""
            return "There is no session '\(name)'"
                + (shown.isEmpty
                    ? " and no other session." : ". There are: " + shown.joined(separator: ", ") + rest + ".")
        }
    }

    init(_ context: Context, _ application: Application) {
        self.context = context
        self.application = application
        listed = context.isSessionNamed ? .named(context.baseName) : .all
    }

    /// The sessions, sorted by their names.
    var sessions: [FollowedSession] { followed }

    /// Whether all transfers that the screen holds have been read at least once.
    var isRead: Bool { followed.allSatisfy { $0.rows.rotations > 0 } }

    /// A sentence about the transfers that are not listed. Nil if all are listed.
    var omission: String? {
        guard followed.contains(where: { $0.rows.limit != nil }) else { return nil }
        return "The first \(StoreReader.mostRows) transfers are listed, and the others only while they run."
    }

    /// Reads the store. If the engine does not reply, the snapshot stays, with the reason.
    func read() throws(CommandError) {
        do {
            try readApplications()
            try readSessions()
            try readEngine()
            for session in followed { try ifPresent(session) { () throws(CommandError) in try read(session) } }
            try readInRotation()
            snapshot.problem = nil
        } catch {
            guard case .failure(let failure) = error, StoreReader.isTemporary(failure.status) else { throw error }
            snapshot.problem = failure.message
        }
        if snapshot.problem == nil { collect() }
        snapshot.now = Clock.wallMilliseconds
    }

    private static func isTemporary(_ status: Status?) -> Bool {
        [.timeout, .engineUnresponsive, .daemonUnavailable].contains(status)
    }

    /// Calls `body`. If the session was removed meanwhile, it is no longer followed.
    private func ifPresent(
        _ session: FollowedSession, _ body: () throws(CommandError) -> Void
    ) throws(CommandError) {
        do {
            try body()
        } catch {
            guard error.isSessionGone else { throw error }
            followed.removeAll { $0 === session }
        }
    }

    private func readApplications() throws(CommandError) {
        if context.isApplicationNamed {
            applications = [application]
            return
        }
        let present = try application.run(.applications).filter { $0.sessions > 0 }
        let busy = present.filter { $0.liveTasks > 0 } + present.filter { $0.liveTasks == 0 }
        let chosen = Set(busy.prefix(StoreReader.mostApplications).map(\.identifier))
        if case .all = listed {
            liveElsewhere = busy.dropFirst(StoreReader.mostApplications).reduce(0) { $0 + Int(clamping: $1.liveTasks) }
        }
        for former in applications where !chosen.contains(former.identifier) {
            followed.removeAll { $0.key.application == former.identifier }
            application.closeOther(former.identifier)
        }
        applications = try present.filter { chosen.contains($0.identifier) }.map { (info) throws(CommandError) in
            try application.other(info.identifier)
        }
    }

    private func readSessions() throws(CommandError) {
        let former = Dictionary(uniqueKeysWithValues: followed.map { ($0.key, $0) })
        var present: [FollowedSession] = []
        otherNames = []
        for one in applications {
            for info in try one.run(.sessions) {
                guard listed.has(info.identifier) else {
                    otherNames.insert(info.identifier)
                    continue
                }
                let key = SessionKey(application: one.identifier, name: info.identifier)
                var session = former[key]
                // A session may have been removed after it was listed.
                if session == nil, let handle = try one.attachIfExists(key.name) {
                    session = FollowedSession(key, handle)
                }
                guard let session else { continue }
                session.note(info)
                present.append(session)
            }
        }
        followed = present.sorted { $0.key < $1.key }
    }

    private func readEngine() throws(CommandError) {
        guard Clock.milliseconds >= nextEngineReading else { return }
        nextEngineReading = Clock.milliseconds + StoreReader.engineInterval
        guard let engine = try application.run(.engine) else { return }
        engineText = (engine.hosting == .daemon ? "daemon " : "process ") + "\(engine.processID)"
        snapshot.store = engine.store
    }

    /// Reads the running transfers of a session, the new ones, and those on the screen.
    private func read(_ session: FollowedSession) throws(CommandError) {
        guard session.isBusy else { return }
        let running = try session.handle.tasks(.states([.running]), maximum: StoreReader.mostRunning)
        let others = session.others(than: running, shown: visible)
        let found = others.isEmpty ? [] : try session.handle.tasks(.ids(others.sorted()), maximum: others.count)
        session.update(running + found, absent: others.subtracting(found.map(\.id)))
        guard session.rows.isComplete, let last = session.rows.last else { return }
        let new = try session.handle.run(.tasks(.all, after: last, maximum: StoreReader.rotationStep))
        session.update(new.tasks, absent: [])
    }

    /// Reads the next transfers in rotation. If the screen is full, transfers without rows are left out.
    private func readInRotation() throws(CommandError) {
        var rest = isRead ? StoreReader.rotationStep : StoreReader.firstStep
        var room = StoreReader.mostRows - followed.reduce(0) { $0 + $1.rows.rows.count }
        for session in followed.sorted(by: { $0.rows.rotations < $1.rows.rotations }) {
            try ifPresent(session) { () throws(CommandError) in
                while rest > 0, session.isBusy {
                    if room <= 0, session.rows.isAtLimit {
                        session.endRotation()
                        break
                    }
                    let before = session.rows.rows.count
                    let count = try readPage(session, maximum: min(rest, StoreReader.pageSize), hasRoom: room > 0)
                    room -= session.rows.rows.count - before
                    rest -= max(count, 1)
                    if session.rows.cursor == nil { break }
                }
            }
        }
    }

    /// - Returns: The number of transfers of the page.
    private func readPage(_ session: FollowedSession, maximum: Int, hasRoom: Bool) throws(CommandError) -> Int {
        let (tasks, more) = try session.handle.run(.tasks(.all, after: session.rows.cursor, maximum: maximum))
        session.take(tasks, more: more, hasRoom: hasRoom)
        return tasks.count
    }

    /// A transfer that is no longer listed, as the history has it. Nil if the history does not have it either.
    func ended(_ key: RowKey) throws(CommandError) -> TaskInfo? {
        guard let session = followed.first(where: { $0.key == key.session }) else { return nil }
        do {
            return try session.handle.taskInHistory(key.id)
        } catch {
            guard error.isSessionGone else { throw error }
            return nil
        }
    }

    private func collect() {
        var rows: [TransferRow] = []
        rows.reserveCapacity(followed.reduce(0) { $0 + $1.rows.rows.count })
        for session in followed { rows += session.rows.rows }
        var totals = MonitorTotals()
        for row in rows { totals.add(row) }
        let live = followed.reduce(liveElsewhere) { $0 + $1.live }
        history.add(totals.bytesPerSecond, milliseconds: Clock.milliseconds)
        snapshot.rows = rows
        snapshot.totals = totals
        snapshot.omitted = max(0, live - totals.running - totals.waiting - totals.suspended)
        snapshot.engine = engineText
        snapshot.absence = followed.isEmpty ? listed.absence(otherNames) : nil
        let filled = followed.filter { !$0.rows.rows.isEmpty }
        snapshot.sessions = filled.map(\.key)
        snapshot.lastNumber = filled.compactMap { $0.rows.last?.rawValue }.max() ?? 0
        snapshot.history = history
    }
}
