internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The credentials of an attempt, which is one run of a task (a download or upload). A challenge is the demand of a
/// server or proxy for a credential, such as a password.
extension TransferRunner {
    private static var repeatLimit: Int { 3 }

    /// Notes what the head of a response says about credentials: the server demands a credential, or has accepted the
    /// sent credentials.
    func noteCredentials(_ head: ResponseHead, _ transfer: Transfer) {
        let (task, context) = (attempt.task, attempt.context)
        context.reachability.responded(task.lane)
        if head.status != 511, attempt.redirectTarget(head) == nil { context.apply(context.uplink.responded(task)) }
        if !transfer.acceptedCredentials.isEmpty { accepted(transfer.acceptedCredentials) }
        guard attempt.authentication.authChallenge == nil, let asked = authChallenge(of: head, transfer) else {
            context.credentials.setRepeats(nil, of: task.id)
            if attempt.authentication.authChallenge == nil, let refreshed = task.refreshed {
                accepted([refreshed.challenge.rawValue])
            }
            attempt.endRunningAlone()
            return
        }
        let sent =
            switch asked.space.kind {
            case .server: transfer.serverCredentialNumber
            case .proxy: transfer.proxyCredentialNumber
            case .refresh: task.refreshed?.challenge.rawValue
            }
        attempt.authentication.sentCredential = sent
        attempt.authentication.authChallenge = asked
        attempt.authentication.authChallenge?.credentialWasRejected = sent != nil
        context.apply(context.credentials.noteChallenge(asked, task))
    }

    private func accepted(_ numbers: [UInt64]) {
        attempt.context.apply(attempt.context.credentials.accepted(numbers, attempt.task))
    }

    private func authChallenge(of head: ResponseHead, _ transfer: Transfer) -> AuthenticationChallenge? {
        let task = attempt.task
        let options = task.request.options
        if RefreshPolicy.isRequested(by: head, options, origin: task.origin.text) {
            return AuthenticationChallenge(
                refreshing: RefreshPolicy.space(options.refresh, of: task.id, origin: task.origin.text))
        }
        guard attempt.configuration.asksForCredentials, var asked = AuthenticationChallenge(head) else { return nil }
        let credentials = attempt.context.credentials[task.session]
        // A realm may repeat a secret of the request, so a new realm is redacted. A known realm is already in the
        // store, so it stays unchanged.
        if credentials?.knows(asked.space) != true {
            asked.space.realm = asked.space.realm.map(transfer.secrets.redacted)
        }
        return credentials?.proceeds(without: asked.space, after: task.challenge) == true ? nil : asked
    }

    /// Parks the task: the task waits until the host (the program that uses the library) has given a credential for the
    /// challenge. If there is already a credential that the task has not sent, the task's request is repeated instead.
    func park(_ authChallenge: AuthenticationChallenge, _ checkpoint: Checkpoint?) {
        let (task, credentials) = (attempt.task, attempt.context.credentials)
        var record = attemptRecord(checkpoint, failure: authChallenge.failure)
        record.attempt = storedAttempt(.challenge, failure: authChallenge.failure)
        guard credentials.mayOpen(authChallenge.space, of: task.session) else { return take(.retryRefused) }
        var repeats = credentials.repeats(of: task.id)
        if let sent = attempt.authentication.sentCredential {
            repeats.sent[authChallenge.space.server, default: []].insert(sent)
            credentials.setRepeats(repeats, of: task.id)
        }
        let sent = repeats.sent[authChallenge.space.server] ?? []
        switch credentials.decision(on: authChallenge.space, of: task, sent: sent) {
        case .refused: take(.retryRefused)
        case .resend:
            repeats.count += 1
            credentials.setRepeats(repeats, of: task.id)
            // If a server sends another realm each time, the request would be repeated for ever. So further repeats
            // have a delay.
            if repeats.count > Self.repeatLimit {
                retry(FailedAttempt(authChallenge.failure), checkpoint)
            } else {
                record.attempt?.next = .retry
                commit(record)
            }
        case .openChallenge(let failures, let replacing): park(authChallenge, checkpoint, record, failures, replacing)
        case nil: park(authChallenge, checkpoint, record, 0, nil)
        }
    }

    private func park(
        _ authChallenge: AuthenticationChallenge, _ checkpoint: Checkpoint?, _ record: AttemptRecord,
        _ failures: UInt32, _ replacing: ChallengeID?
    ) {
        let (context, id, session) = (attempt.context, attempt.task.id, attempt.task.session)
        let now = context.calendar.milliseconds
        let known = context.credentials.openChallenge(of: authChallenge.space, in: session)
        attempt.store({ (transaction) throws(Failure) in
            try transaction.challenges.park(
                id, record, for: authChallenge, failures: failures, known: known, replacing: replacing,
                bootMilliseconds: Clock.bootMilliseconds, now: transaction.calendar(now))
        }, then: { [self] result in
            switch result {
            case .success(.superseded(let closed)):
                context.apply(context.credentials.closed([closed], of: session))
                park(authChallenge, checkpoint)
            case .success(let parking):
                attempt.authentication.authChallenge = nil
                context.apply(
                    context.credentials.commitChallenge(authChallenge.space, parking.parked?.challenge, session))
                take(.concluded)
                guard let parked = parking.parked else { return }
                context.scheduler.due(at: parked.nextDue)
                context.scheduler.tasksWait(in: parked.change.lanes, reload: true)
                if parked.isNew { context.apply([.announce(parked.change)]) }
            case .failure(let failure):
                attempt.retryCommit(after: failure) { [unowned self] in
                    park(authChallenge, checkpoint, record, failures, replacing)
                }
            }
        })
    }

    /// Cleans up after the end of the attempt. If the store has not handled the challenge of the attempt's response,
    /// notes that no challenge was opened. Then permits the lane (the tasks of one session for one server) to start
    /// other tasks.
    func endCredentialUse() {
        if let authChallenge = attempt.authentication.authChallenge {
            attempt.context.apply(
                attempt.context.credentials.commitChallenge(authChallenge.space, nil, attempt.task.session))
        }
        attempt.authentication.authChallenge = nil
        attempt.endRunningAlone()
    }
}
