internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

extension TaskRunner {
    /// What the answer asks for becomes `demand`; one that asks for nothing proves the answers that were sent.
    func noteCredentials(_ head: ResponseHead, _ transfer: Transfer) {
        core.reachability.responded(task.lane)
        if head.status != 511, elsewhere(head) == nil { core.apply(core.uplink.answered(task)) }
        if !transfer.acceptedAnswers.isEmpty { accepted(transfer.acceptedAnswers) }
        guard demand == nil, let asked = question(head, transfer) else {
            core.credentials.setRepeats(nil, of: task.id)
            if demand == nil, let refreshed = task.refreshed { accepted([refreshed.challenge.rawValue]) }
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
        core.apply(core.credentials.met(asked, task))
    }

    private func accepted(_ numbers: [UInt64]) { core.apply(core.credentials.accepted(numbers, task)) }

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
        var repeats = core.credentials.repeats(of: task.id)
        if let sentAnswer {
            repeats.sent.insert(sentAnswer)
            core.credentials.setRepeats(repeats, of: task.id)
        }
        switch core.credentials.verdict(on: demand.space, of: task, sent: repeats.sent) {
        case .refused: take(.retryRefused)
        case .again:
            repeats.count += 1
            core.credentials.setRepeats(repeats, of: task.id)
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
        let (id, number, session, now) = (task.id, self.attempt, task.session, core.calendar.milliseconds)
        core.store({ (transaction) throws(Failure) in
            try transaction.park(
                id, attempt, for: demand, failures: failures, replacing: replacing,
                bootMilliseconds: Clock.bootMilliseconds, now: now)
        }, then: { core, result in
            guard let runner = core.transfers.runner(id, number) else { return }
            switch result {
            case .success(let parked):
                runner.demand = nil
                core.apply(core.credentials.settled(demand.space, parked?.challenge, session))
                runner.take(.concluded)
                guard let parked else { return }
                core.scheduler.due(at: parked.nextDue)
                core.scheduler.tasksWait(in: parked.change.lanes, reload: true)
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
        core.scheduler.endedProbe(task.lane)
    }

    /// Nothing more comes of this runner.
    func leaveCredentials() {
        if let demand { core.apply(core.credentials.settled(demand.space, nil, task.session)) }
        demand = nil
        endProbe()
    }
}
