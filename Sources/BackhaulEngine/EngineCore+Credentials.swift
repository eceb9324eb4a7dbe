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

    func accepted(_ answers: [UInt64], _ task: StoredTask) {
        if credentials[task.session]?.accepted(answers, in: task.origin.text) ?? false {
            credentialsChanged(task.session)
        }
    }

    func answered(_ challenge: Challenge, _ response: ChallengeResponse, _ session: SessionID, _ change: Change) {
        credentials[session, default: SessionCredentials()].answered(challenge, response)
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

    /// Those that may start, and those of a directory whose files need a credential: they wait for the same challenge.
    func divide(_ tasks: [StoredTask]) -> (startable: [StoredTask], parked: [ChallengeID: [StoredTask]]) {
        var startable: [StoredTask] = []
        var parked: [ChallengeID: [StoredTask]] = [:]
        for task in tasks {
            if let challenge = challengeToWaitFor(task) {
                parked[challenge, default: []].append(task)
            } else {
                startable.append(task)
            }
        }
        return (startable, parked)
    }

    /// A task whose time is over starts, to end.
    private func challengeToWaitFor(_ task: StoredTask) -> ChallengeID? {
        guard let configuration = sessions[task.session], configuration.asksForCredentials, task.intent == nil,
            calendarMilliseconds - task.enqueuedMilliseconds
                < Int64(clamping: configuration.resourceTimeoutMilliseconds)
        else { return nil }
        return credentials[task.session]?.challenge(for: task.request.url, in: task.origin.text)
    }

    private func parkReadyTasks(of session: SessionID) {
        let parked = divide(ready.values.filter { $0.session == session }).parked
        for task in parked.values.joined() {
            ready[task.id] = nil
            schedule.drop(task.id, in: task.lane)
        }
        park(parked)
    }

    func park(_ tasks: [ChallengeID: [StoredTask]]) {
        for (challenge, tasks) in tasks {
            let ids = tasks.map(\.id)
            let lanes = Set(tasks.map(\.lane))
            let now = calendarMilliseconds
            store({ (transaction) throws(Failure) in
                try transaction.parkUnasked(
                    ids, for: challenge, bootMilliseconds: Clock.bootMilliseconds, now: now)
            }, then: { core, result in
                guard case .success(let next) = result else {
                    // The store cannot commit for now: the lanes are looked at again with what is due.
                    core.lanesToReload.formUnion(lanes)
                    core.due(at: Clock.bootMilliseconds + 1_000)
                    return
                }
                core.due(at: next)
                core.tasksWait(in: lanes, reload: false)
            })
        }
    }
}

/// What a task has tried since a server or proxy asked it for a credential.
struct CredentialRepeats {
    /// Tries at once with an answer that was there.
    var count = 0
    /// The answers that were sent. One that was sent has not served, also when the next question names another realm.
    var sent: Set<UInt64> = []
}

extension TaskRunner {
    /// Lets the task wait for its challenge, or tries again with an answer that it has not sent.
    func park(_ demand: AuthenticationDemand, _ checkpoint: Checkpoint?) {
        var attempt = AttemptRecord(
            attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
            bytesReceived: bytesReceived, failure: demand.failure, httpStatus: head?.status ?? 0,
            checkpoint: checkpoint)
        attempt.furthestOffset = furthest
        guard let credentials = core.credentials[task.session], credentials.mayOpen(demand.space) else {
            take(.retryRefused)
            return
        }
        var repeats = core.credentialRepeats[task.id] ?? CredentialRepeats()
        if let sentAnswer {
            repeats.sent.insert(sentAnswer)
            core.credentialRepeats[task.id] = repeats
        }
        switch core.credentials[task.session]?.verdict(on: demand.space, sent: repeats.sent, in: task.origin.text) {
        case .refused: take(.retryRefused)
        case .again:
            repeats.count += 1
            core.credentialRepeats[task.id] = repeats
            // A server that names another realm each time is not asked without a pause.
            if repeats.count > Self.repeatLimit {
                retry(FailedAttempt(demand.failure), checkpoint)
            } else {
                record(attempt)
            }
        case .ask(let failures, let replacing): park(demand, attempt, failures, replacing)
        case nil: park(demand, attempt, 0, nil)
        }
    }

    private static let repeatLimit = 3

    private func park(
        _ demand: AuthenticationDemand, _ attempt: AttemptRecord, _ failures: UInt32, _ replacing: ChallengeID?
    ) {
        let (id, session, now) = (task.id, task.session, core.calendarMilliseconds)
        core.store({ (transaction) throws(Failure) in
            try transaction.park(
                id, attempt, for: demand, failures: failures, replacing: replacing,
                bootMilliseconds: Clock.bootMilliseconds, now: now)
        }, then: { core, result in
            guard let runner = core.runners[id] else { return }
            switch result {
            case .success(let parked):
                runner.demand = nil
                core.settled(demand.space, parked?.challenge, session)
                runner.take(.concluded)
                guard let parked else { return }
                core.due(at: parked.nextDue)
                core.tasksWait(in: parked.change.lanes, reload: true)
                if parked.isNew { core.announce(parked.change) }
            case .failure:
                runner.again { [unowned runner] in runner.park(demand, attempt, failures, replacing) }
            }
        })
    }

    /// It is known how the server takes the request.
    func endProbe() {
        guard isProbe else { return }
        isProbe = false
        core.schedule.endedProbe(task.lane)
        core.planPump()
    }

    /// Nothing more comes of this runner.
    func leaveCredentials() {
        if let demand { core.settled(demand.space, nil, task.session) }
        demand = nil
        endProbe()
    }
}
