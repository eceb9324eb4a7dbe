internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// What a task has tried since a server or proxy asked it for a credential.
struct CredentialRepeats {
    /// Tries at once with an answer that was there.
    var count = 0
    /// The answers that were sent. One that was sent has not served, also when the next question names another realm.
    var sent: Set<UInt64> = []
}

extension TaskRunner {
    /// What the answer asks for becomes `demand`; one that asks for nothing proves the answers that were sent.
    func noteCredentials(_ head: ResponseHead, _ transfer: Transfer) {
        core.hasWay(task.lane)
        if head.status != 511, elsewhere(head) == nil { core.noteUplink(task, .answered) }
        if !transfer.acceptedAnswers.isEmpty { core.accepted(transfer.acceptedAnswers, task) }
        guard demand == nil, let asked = question(head, transfer) else {
            core.credentialRepeats[task.id] = nil
            if demand == nil, let refreshed = task.refreshed { core.accepted([refreshed.challenge.rawValue], task) }
            endProbe()
            return
        }
        switch asked.space.kind {
        case .server: sentAnswer = transfer.sentToServer
        case .proxy: sentAnswer = transfer.sentToProxy
        case .refresh: sentAnswer = task.refreshed?.challenge.rawValue
        }
        demand = asked
        demand?.credentialWasRejected = sentAnswer != nil
        core.met(asked, task)
    }

    private func question(_ head: ResponseHead, _ transfer: Transfer) -> AuthenticationDemand? {
        let options = task.request.options
        if RefreshNeed.isAsked(by: head, options, origin: task.origin.text) {
            return AuthenticationDemand(
                refreshing: RefreshNeed.space(options.refresh, of: task.id, origin: task.origin.text))
        }
        guard configuration.asksForCredentials, var asked = AuthenticationDemand(head) else { return nil }
        let credentials = core.credentials[task.session]
        // A realm that is known is in the store already.
        if credentials?.knows(asked.space) != true {
            asked.space.realm = asked.space.realm.map(transfer.secrets.redacted)
        }
        return credentials?.goesOn(without: asked.space, after: task.challenge) == true ? nil : asked
    }

    /// Lets the task wait for its challenge, or tries again with an answer that it has not sent.
    func park(_ demand: AuthenticationDemand, _ checkpoint: Checkpoint?) {
        var attempt = AttemptRecord(
            attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
            bytesReceived: bytesReceived, failure: demand.failure, httpStatus: head?.status ?? 0,
            checkpoint: checkpoint)
        attempt.furthestOffset = furthest
        attempt.bytesSent = bytesSent
        attempt.attempt = self.attempt(.challenge, failure: demand.failure)
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
                attempt.attempt?.next = .retry
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
            case .failure(let failure):
                runner.again(after: failure) { [unowned runner] in runner.park(demand, attempt, failures, replacing) }
            }
        })
    }

    /// What an answer to a challenge has put into the request.
    var refreshedSecrets: SentSecrets {
        var secrets = SentSecrets()
        if let refreshed = task.refreshed { secrets.add(.headers(refreshed.headers)) }
        return secrets
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
