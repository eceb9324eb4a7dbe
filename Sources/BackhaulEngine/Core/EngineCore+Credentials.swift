internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Challenges and their answers. Answers live in `credentials` and nowhere else.
extension EngineCore {
    /// Open since before this engine.
    func learn(_ challenges: [(session: SessionID, challenge: Challenge)]) {
        for (session, challenge) in challenges { credentials[session, default: SessionCredentials()].learn(challenge) }
    }

    func met(_ demand: AuthenticationDemand, _ task: StoredTask) {
        credentials[task.session, default: SessionCredentials()].met(demand, in: task.origin.text)
        probe(lanesOf: task.session)
    }

    func settled(_ space: ProtectionSpace, _ challenge: ChallengeID?, _ session: SessionID) {
        credentials[session]?.settled(space, challenge: challenge)
        if challenge != nil { parkReadyTasks(of: session) }
        credentialsChanged(session)
    }

    /// Answers that were to be kept by an earlier engine.
    func learn(_ kept: [(session: SessionID, answer: KeptAnswer)]) {
        for (session, answer) in kept { credentials[session, default: SessionCredentials()].learn(answer) }
    }

    func accepted(_ answers: [UInt64], _ task: StoredTask) {
        if credentials[task.session]?.accepted(answers, in: task.origin.text) ?? false {
            credentialsChanged(task.session)
        }
        if task.refreshed?.url != nil { forgetAddress(of: task.id, task.session) }
    }

    /// The URL that the host has given serves, or its task has ended.
    func forgetAddress(of task: TaskID, _ session: SessionID) {
        credentials[session]?.acceptedAddress(of: task)
        if credentials[session]?.isEmpty ?? false { credentials[session] = nil }
    }

    func answered(
        _ challenge: Challenge, _ response: ChallengeResponse, _ life: AnswerLife, _ session: SessionID,
        _ change: Change
    ) {
        // What is refreshed is in the store; only who has it is known here.
        let isRefreshed = challenge.space.kind == .refresh && response != .standard
        credentials[session, default: SessionCredentials()].answered(
            challenge, isRefreshed ? .headers([]) : response, expires: isRefreshed ? nil : life.expiresMilliseconds)
        credentialsChanged(session)
        tasksWait(in: change.lanes, reload: false)
        announce(change)
    }

    func refused(_ challenge: Challenge, _ session: SessionID, _ change: Change) {
        credentials[session]?.refused(challenge)
        credentialsChanged(session)
        apply(change, tasksEndedOrStopped: .cancel)
    }

    func forgetClosed(_ change: Change) {
        guard !change.closedChallenges.isEmpty else { return }
        for challenge in change.closedChallenges { credentials[change.session]?.closed(challenge) }
        credentialsChanged(change.session)
    }

    private func credentialsChanged(_ session: SessionID) {
        if credentials[session]?.isEmpty ?? false { credentials[session] = nil }
        probe(lanesOf: session)
        planPump()
    }

    private func probe(lanesOf session: SessionID) {
        for lane in lanes.values where lane.session == session { probe(lane) }
    }

    func probe(_ lane: Lane) {
        schedule.setProbed(lane.id, credentials[lane.session]?.isProbed(lane.origin.text) ?? false)
    }

    // MARK: Waiting without asking

    /// Those that may start, and those that are to wait for an answer first.
    func divide(
        _ tasks: [StoredTask]
    ) -> (startable: [StoredTask], parked: [SessionCredentials.Wait: [StoredTask]]) {
        var startable: [StoredTask] = []
        var parked: [SessionCredentials.Wait: [StoredTask]] = [:]
        for task in tasks {
            if let wait = wait(before: task) { parked[wait, default: []].append(task) } else { startable.append(task) }
        }
        return (startable, parked)
    }

    /// What the task waits for before it is tried. One whose time is over starts, to end.
    func wait(before task: StoredTask) -> SessionCredentials.Wait? {
        guard let configuration = sessions[task.session], task.intent == nil,
            remainingMilliseconds(of: task, configuration) > 0
        else { return nil }
        let now = Clock.wallMilliseconds
        if credentials[task.session]?.expire(now: now) ?? false { credentialsChanged(task.session) }
        if task.request.hasOptions, task.request.options.refresh != .none {
            let (options, origin) = (task.request.options, task.origin.text)
            let wait = (credentials[task.session] ?? SessionCredentials()).wait(
                forRefresh: RefreshNeed.space(options.refresh, of: task.id, origin: origin),
                isOver: RefreshNeed.isOver(options, now: now))
            if let wait { return wait }
        }
        guard configuration.asksForCredentials else { return nil }
        return credentials[task.session]?.wait(for: task.request.url, in: task.origin.text, last: task.challenge)
    }

    private func parkReadyTasks(of session: SessionID) {
        let parked = divide(ready.values.filter { $0.session == session }).parked
        for task in parked.values.joined() {
            ready[task.id] = nil
            schedule.drop(task.id, in: task.lane)
        }
        park(parked)
    }

    func park(_ tasks: [SessionCredentials.Wait: [StoredTask]]) {
        for (wait, tasks) in tasks {
            switch wait {
            case .open(let challenge): park(tasks, for: challenge)
            case .ask(let demand, let replacing): ask(demand, for: tasks, replacing)
            }
        }
    }

    private func park(_ tasks: [StoredTask], for challenge: ChallengeID) {
        let ids = tasks.map(\.id)
        let lanes = Set(tasks.map(\.lane))
        let now = calendarMilliseconds
        store({ (transaction) throws(Failure) in
            try transaction.parkUnasked(ids, for: challenge, bootMilliseconds: Clock.bootMilliseconds, now: now)
        }, then: { core, result in
            guard case .success(let next) = result else { return core.lookAgain(at: lanes) }
            core.due(at: next)
            core.tasksWait(in: lanes, reload: false)
        })
    }

    /// What they carry is too old: the challenge opens before a request is made.
    private func ask(_ demand: AuthenticationDemand, for tasks: [StoredTask], _ replacing: ChallengeID?) {
        guard let first = tasks.first else { return }
        let (ids, session, now) = (tasks.map(\.id), first.session, calendarMilliseconds)
        let lanes = Set(tasks.map(\.lane))
        met(demand, first)
        store({ (transaction) throws(Failure) in
            try transaction.ask(
                demand, for: ids, replacing: replacing, bootMilliseconds: Clock.bootMilliseconds, now: now)
        }, then: { core, result in
            core.settled(demand.space, (try? result.get())??.challenge, session)
            guard case .success(let parked) = result else { return core.lookAgain(at: lanes) }
            core.due(at: parked?.nextDue)
            core.tasksWait(in: lanes.union(parked?.change.lanes ?? []), reload: true)
            if let parked, parked.isNew { core.announce(parked.change) }
        })
    }

    /// The store cannot commit for now: the lanes are looked at again with what is due.
    private func lookAgain(at lanes: Set<LaneID>) {
        lanesToReload.formUnion(lanes)
        due(at: Clock.bootMilliseconds + 1_000)
    }
}
