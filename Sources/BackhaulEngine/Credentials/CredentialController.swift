internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The credentials and open challenges of all sessions. This object decides which tasks wait for a challenge.
///
/// Each engine has one object of this type. The credentials are in memory. The engine also stores a credential if the
/// host demands this.
final class CredentialController {
    /// What happens to a task whose response demanded a credential.
    enum ParkingDecision {
        /// The task waits for a challenge. `failures`: how many credentials in a row the server did not accept.
        /// `known`: the challenge that is open now. `replacing`: an earlier challenge, whose tasks wait for the new
        /// one. `now`: the time of the age calendar.
        struct Wait {
            let failures: UInt32
            let known: ChallengeID?
            let replacing: ChallengeID?
            let now: Int64
        }

        case refused
        case repeatRequest(isDelayed: Bool)
        case wait(Wait)
    }

    /// After this many immediate repeats, further repeats of a request have a delay. A server that sends another realm
    /// each time would otherwise get the request for ever.
    private static let repeatLimit = 3

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let calendar: CalendarWatch
    private var credentials: [SessionID: SessionCredentials] = [:]
    private var repeats: [TaskID: CredentialRepeats] = [:]

    init(_ runtime: any Runtime, _ sessions: SessionTable, _ calendar: CalendarWatch) {
        self.runtime = runtime
        self.sessions = sessions
        self.calendar = calendar
    }

    /// The credentials of the session; nil if the session has no credentials and no challenges.
    subscript(_ session: SessionID) -> SessionCredentials? { credentials[session] }

    /// Whether the lane may run only one task at a time, because its server has not accepted a credential yet.
    func runsOneTask(_ lane: Lane) -> Bool { credentials[lane.session]?.runsOneTask(lane.origin.text) ?? false }

    func forget(_ session: SessionID) { credentials[session] = nil }

    // MARK: Challenges

    /// Takes over the open challenges and the stored credentials of an earlier engine.
    func restore(
        _ challenges: [(session: SessionID, challenge: Challenge)],
        _ kept: [(session: SessionID, credential: StoredCredential)]
    ) {
        for (session, credential) in kept { credentials[session, default: SessionCredentials()].restore(credential) }
        for (session, challenge) in challenges {
            credentials[session, default: SessionCredentials()].restore(challenge)
        }
    }

    /// Notes that a response demands a credential. A call of `commitChallenge` follows.
    func noteChallenge(_ authChallenge: AuthenticationChallenge, _ task: StoredTask) -> [EngineEffect] {
        credentials[task.session, default: SessionCredentials()].noteChallenge(authChallenge, in: task.origin.text)
        return [.credentialsChanged(task.session)]
    }

    /// Notes that the store has handled the challenge of a response. `challenge`: the stored challenge that was opened
    /// for the response; nil if no challenge was opened.
    func commitChallenge(_ space: ProtectionSpace, _ challenge: ChallengeID?, _ session: SessionID) -> [EngineEffect] {
        credentials[session]?.commitChallenge(space, challenge: challenge)
        return (challenge == nil ? [] : [.parkReadyTasks(of: session)]) + changed(session)
    }

    /// Notes that a server or proxy has accepted the credentials with these numbers.
    func accepted(_ numbers: [UInt64], _ task: StoredTask) -> [EngineEffect] {
        let isNew = credentials[task.session]?.accepted(numbers, in: task.origin.text) ?? false
        if task.refreshed?.url != nil { acceptedURL(of: task.id, task.session) }
        return isNew ? changed(task.session) : []
    }

    /// Forgets that the host has replaced the task's URL. It is called when the server has accepted the new URL, or
    /// when the task has ended.
    func acceptedURL(of task: TaskID, _ session: SessionID) {
        credentials[session]?.acceptedURL(of: task)
        if credentials[session]?.isEmpty ?? false { credentials[session] = nil }
    }

    /// Stores the host's response to the challenge in memory. `newest`: for new headers, the newest task that has them.
    func responded(
        to challenge: Challenge, _ response: ChallengeResponse, _ lifetime: CredentialLifetime, newest: TaskID? = nil,
        _ session: SessionID
    ) -> [EngineEffect] {
        // If the host has given a new URL or new header fields, the store has them. In this object's memory, an empty
        // list of header fields represents them.
        let isRefreshed = challenge.space.kind == .refresh && response != .standard
        credentials[session, default: SessionCredentials()].storeResponse(
            challenge, isRefreshed ? .headers([]) : response, expires: isRefreshed ? nil : lifetime.expiresMilliseconds,
            newest: newest)
        return changed(session)
    }

    func refused(_ challenge: Challenge, _ session: SessionID) -> [EngineEffect] {
        credentials[session]?.refused(challenge)
        return changed(session)
    }

    func closed(_ challenges: [ChallengeID], of session: SessionID) -> [EngineEffect] {
        guard !challenges.isEmpty else { return [] }
        for challenge in challenges { credentials[session]?.closed(challenge) }
        return changed(session)
    }

    private func changed(_ session: SessionID) -> [EngineEffect] {
        if credentials[session]?.isEmpty ?? false { credentials[session] = nil }
        return [.credentialsChanged(session), .schedule]
    }

    // MARK: Responses with a challenge

    /// Decides what happens to the task. `sent`: the number of the credential that the server has rejected; nil if none
    /// was sent.
    func decideParking(of task: StoredTask, for space: ProtectionSpace, sent: UInt64?) -> ParkingDecision {
        // Without state of the session, no challenge is open. The state may have been removed just before a second task
        // opens its own challenge.
        guard credentials[task.session]?.mayOpen(space) ?? true else { return .refused }
        if let sent { repeats[task.id, default: CredentialRepeats()].sent[space.server, default: []].insert(sent) }
        let rejected = repeats[task.id]?.sent[space.server] ?? []
        switch credentials[task.session]?.decision(on: space, sent: rejected, in: task.origin.text, of: task.id) {
        case .refused: return .refused
        case .resend:
            repeats[task.id, default: CredentialRepeats()].count += 1
            return .repeatRequest(isDelayed: repeats[task.id].map { $0.count > Self.repeatLimit } ?? false)
        case .openChallenge(let failures, let replacing): return wait(space, task.session, failures, replacing)
        case nil: return wait(space, task.session, 0, nil)
        }
    }

    private func wait(
        _ space: ProtectionSpace, _ session: SessionID, _ failures: UInt32, _ replacing: ChallengeID?
    ) -> ParkingDecision {
        .wait(
            .init(
                failures: failures, known: credentials[session]?.openChallenge(of: space), replacing: replacing,
                now: calendar.milliseconds))
    }

    /// Forgets how often the task's request was repeated.
    func forgetRepeats(of task: TaskID) { repeats[task] = nil }

    // MARK: Tasks that wait for a credential

    /// The challenge that the task has to wait for before it starts; nil if there is none. If the resource time-out
    /// (the longest time from the enqueue to the end) of the task is over, the result is nil: the task starts, so that
    /// it can end.
    func wait(before task: StoredTask) -> (wait: SessionCredentials.PendingChallenge?, effects: [EngineEffect]) {
        guard let configuration = sessions[task.session], task.intent == nil,
            calendar.remainingMilliseconds(of: task, configuration) > 0
        else { return (nil, []) }
        let now = runtime.clocks.wallMilliseconds
        let hasExpired = credentials[task.session]?.expire(now: now) ?? false
        if hasExpired {
            runtime.storeWithRetry(
                { (transaction) throws(Failure) in try transaction.credentials.clearExpired(now: now) },
                then: { _ in [] })
        }
        let effects = hasExpired ? changed(task.session) : []
        if task.request.hasOptions, task.request.options.refresh != .none {
            let (options, origin) = (task.request.options, task.origin.text)
            let wait = (credentials[task.session] ?? SessionCredentials()).wait(
                forRefresh: RefreshPolicy.space(options.refresh, of: task.id, origin: origin),
                isDue: RefreshPolicy.isDue(options, now: now))
            if let wait { return (wait, effects) }
        }
        guard configuration.asksForCredentials else { return (nil, effects) }
        let wait = credentials[task.session]?.wait(for: task.request.url, in: task.origin.text, last: task.challenge)
        return (wait, effects)
    }

    /// Whether `wait(before:)` is necessary. Most sessions have no credentials and no challenges.
    private func mayHaveToWait(_ task: StoredTask) -> Bool {
        credentials[task.session] != nil || task.request.hasOptions && task.request.options.refresh != .none
    }

    /// Returns the tasks that may start. The other tasks wait in the store for their challenges.
    func admit(_ tasks: [StoredTask]) -> (startable: [StoredTask], effects: [EngineEffect]) {
        guard tasks.contains(where: mayHaveToWait) else { return (tasks, []) }
        var startable: [StoredTask] = []
        var waits: [SessionCredentials.PendingChallenge] = []
        var parked: [SessionCredentials.PendingChallenge: [StoredTask]] = [:]
        var effects: [EngineEffect] = []
        for task in tasks {
            let (wait, changes) = wait(before: task)
            effects += changes
            guard let wait else {
                startable.append(task)
                continue
            }
            if parked[wait] == nil { waits.append(wait) }
            parked[wait, default: []].append(task)
        }
        for wait in waits { effects += park(parked[wait] ?? [], wait) }
        return (startable, effects)
    }

    private func park(_ tasks: [StoredTask], _ wait: SessionCredentials.PendingChallenge) -> [EngineEffect] {
        switch wait {
        case .open(let challenge):
            park(tasks, for: challenge)
            return []
        case .openChallenge(let authChallenge, let replacing):
            return openChallenge(authChallenge, for: tasks, replacing)
        }
    }

    private func park(_ tasks: [StoredTask], for challenge: ChallengeID) {
        let ids = tasks.map(\.id)
        let lanes = Set(tasks.map(\.lane))
        let now = calendar.milliseconds
        runtime.store(
            { [clocks = runtime.clocks] (transaction) throws(Failure) in
                try transaction.challenges.parkWithoutAttempt(
                    ids, for: challenge, bootMilliseconds: clocks.bootMilliseconds,
                    now: transaction.calendar(now, clocks))
            },
            then: { result in
                guard case .success(let next) = result else { return [.reloadLater(lanes)] }
                return [.due(at: next), .tasksWait(in: lanes, reload: false)]
            })
    }

    /// Opens the challenge before a request is sent, because the credential of the tasks has expired.
    private func openChallenge(
        _ authChallenge: AuthenticationChallenge, for tasks: [StoredTask], _ replacing: ChallengeID?
    ) -> [EngineEffect] {
        guard let first = tasks.first else { return [] }
        let (ids, session, now) = (tasks.map(\.id), first.session, calendar.milliseconds)
        let lanes = Set(tasks.map(\.lane))
        runtime.store(
            { [clocks = runtime.clocks] (transaction) throws(Failure) in
                try transaction.challenges.open(
                    authChallenge, for: ids, replacing: replacing, bootMilliseconds: clocks.bootMilliseconds,
                    now: transaction.calendar(now, clocks))
            },
            then: { [unowned self] result in
                let effects = commitChallenge(authChallenge.space, (try? result.get())??.challenge, session)
                guard case .success(let parked) = result else { return effects + [.reloadLater(lanes)] }
                let all = lanes.union(parked?.change.lanes ?? [])
                return effects + [.due(at: parked?.nextDue), .tasksWait(in: all, reload: true)]
                    + (parked.map { $0.isNew ? [.announce($0.change)] : [] } ?? [])
            })
        return noteChallenge(authChallenge, first)
    }
}

/// How a task's request was repeated after a server or proxy had demanded a credential.
private struct CredentialRepeats {
    /// How often the request was repeated immediately with a credential that the engine had already.
    var count = 0
    /// The numbers of the credentials that were sent to each server or proxy. Each of these credentials counts as
    /// rejected, even if the next challenge has another realm.
    var sent: [ProtectionSpace.Server: Set<UInt64>] = [:]
}
