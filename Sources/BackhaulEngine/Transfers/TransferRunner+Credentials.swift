internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

extension TransferRunner {
    private static var repeatLimit: Int { 3 }

    /// Takes the head of a response. Either it demands a credential, or it shows that the sent credentials are valid.
    func noteCredentials(_ head: ResponseHead, _ transfer: Transfer) {
        let (task, context) = (attempt.task, attempt.context)
        context.reachability.responded(task.lane)
        if head.status != 511, attempt.redirectTarget(head) == nil { context.apply(context.uplink.answered(task)) }
        if !transfer.acceptedAnswers.isEmpty { accepted(transfer.acceptedAnswers) }
        guard attempt.authentication.demand == nil, let asked = demand(of: head, transfer) else {
            context.credentials.setRepeats(nil, of: task.id)
            if attempt.authentication.demand == nil, let refreshed = task.refreshed {
                accepted([refreshed.challenge.rawValue])
            }
            attempt.endProbe()
            return
        }
        let sent =
            switch asked.space.kind {
            case .server: transfer.sentToServer
            case .proxy: transfer.sentToProxy
            case .refresh: task.refreshed?.challenge.rawValue
            }
        attempt.authentication.sentCredential = sent
        attempt.authentication.demand = asked
        attempt.authentication.demand?.credentialWasRejected = sent != nil
        context.apply(context.credentials.met(asked, task))
    }

    private func accepted(_ numbers: [UInt64]) {
        attempt.context.apply(attempt.context.credentials.accepted(numbers, attempt.task))
    }

    private func demand(of head: ResponseHead, _ transfer: Transfer) -> AuthenticationDemand? {
        let task = attempt.task
        let options = task.request.options
        if RefreshNeed.isAsked(by: head, options, origin: task.origin.text) {
            return AuthenticationDemand(
                refreshing: RefreshNeed.space(options.refresh, of: task.id, origin: task.origin.text))
        }
        guard attempt.configuration.asksForCredentials, var asked = AuthenticationDemand(head) else { return nil }
        let credentials = attempt.context.credentials[task.session]
        // A known realm is in the store already, so it may stay.
        if credentials?.knows(asked.space) != true {
            asked.space.realm = asked.space.realm.map(transfer.secrets.redacted)
        }
        return credentials?.goesOn(without: asked.space, after: task.challenge) == true ? nil : asked
    }

    /// Parks the task until its challenge has a credential, or repeats it with a credential that it has not sent.
    func park(_ demand: AuthenticationDemand, _ checkpoint: Checkpoint?) {
        let (task, credentials) = (attempt.task, attempt.context.credentials)
        var record = attemptRecord(checkpoint, failure: demand.failure)
        record.attempt = storedAttempt(.challenge, failure: demand.failure)
        guard credentials.mayOpen(demand.space, of: task.session) else { return take(.retryRefused) }
        var repeats = credentials.repeats(of: task.id)
        if let sent = attempt.authentication.sentCredential {
            repeats.sent.insert(sent)
            credentials.setRepeats(repeats, of: task.id)
        }
        switch credentials.verdict(on: demand.space, of: task, sent: repeats.sent) {
        case .refused: take(.retryRefused)
        case .again:
            repeats.count += 1
            credentials.setRepeats(repeats, of: task.id)
            // A server that sends another realm each time gets no request without a delay.
            if repeats.count > Self.repeatLimit {
                retry(FailedAttempt(demand.failure), checkpoint)
            } else {
                record.attempt?.next = .retry
                commit(record)
            }
        case .ask(let failures, let replacing): park(demand, checkpoint, record, failures, replacing)
        case nil: park(demand, checkpoint, record, 0, nil)
        }
    }

    private func park(
        _ demand: AuthenticationDemand, _ checkpoint: Checkpoint?, _ record: AttemptRecord, _ failures: UInt32,
        _ replacing: ChallengeID?
    ) {
        let (context, id, session) = (attempt.context, attempt.task.id, attempt.task.session)
        let now = context.calendar.milliseconds
        let known = context.credentials.openChallenge(of: demand.space, in: session)
        attempt.store({ (transaction) throws(Failure) in
            try transaction.challenges.park(
                id, record, for: demand, failures: failures, known: known, replacing: replacing,
                bootMilliseconds: Clock.bootMilliseconds, now: now)
        }, then: { [self] result in
            switch result {
            case .success(.superseded):
                context.apply(context.credentials.closed(known.map { [$0] } ?? [], of: session))
                park(demand, checkpoint)
            case .success(let parking):
                attempt.authentication.demand = nil
                context.apply(context.credentials.settled(demand.space, parking.parked?.challenge, session))
                take(.concluded)
                guard let parked = parking.parked else { return }
                context.scheduler.due(at: parked.nextDue)
                context.scheduler.tasksWait(in: parked.change.lanes, reload: true)
                if parked.isNew { context.apply([.announce(parked.change)]) }
            case .failure(let failure):
                attempt.commitAgain(after: failure) { [unowned self] in
                    park(demand, checkpoint, record, failures, replacing)
                }
            }
        })
    }

    /// Ends the credential state, because the attempt is over.
    func leaveCredentials() {
        if let demand = attempt.authentication.demand {
            attempt.context.apply(attempt.context.credentials.settled(demand.space, nil, attempt.task.session))
        }
        attempt.authentication.demand = nil
        attempt.endProbe()
    }
}
