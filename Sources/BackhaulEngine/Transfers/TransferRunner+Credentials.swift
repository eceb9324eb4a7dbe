internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The credentials and challenges of an attempt.
extension TransferRunner {
    /// Notes what the head of a response says about credentials (the server demands a credential, or has accepted the
    /// sent credentials) and about further requests to its origin.
    func noteCredentials(_ head: ResponseHead, _ transfer: Transfer) {
        attempt.emit(.responded(isFromServer: head.status != 511 && attempt.redirectTarget(head) == nil))
        if let response = head.originResponse {
            note(response) { [attempt] in attempt.redirectTarget(head) ?? attempt.task.origin }
        }
        if !transfer.credentials.accepted.isEmpty { attempt.emit(.credentialsAccepted(transfer.credentials.accepted)) }
        guard attempt.authentication.authChallenge == nil, let asked = authChallenge(of: head, transfer) else {
            // The body may still open a challenge (`collectErrorBody`).
            if !mayBeRefreshed || !RefreshPolicy.mayBeRequested(byBodyOf: head, attempt.task.request.options) {
                attempt.emit(.notChallenged)
                // A refusal by another origin, or by an upload's resource, does not show that new headers work.
                if attempt.authentication.authChallenge == nil, let refreshed = attempt.task.refreshed,
                    refreshed.isDeclined
                        || ![401, 403].contains(head.status) && ResponseHead.showsCheckedCredential(head.status)
                {
                    attempt.emit(.credentialsAccepted([refreshed.challenge.rawValue]))
                }
            }
            attempt.endRunningAlone()
            return
        }
        let sent =
            switch asked.space.kind {
            case .server: transfer.credentials.server
            case .proxy: transfer.credentials.proxy
            case .refresh: attempt.task.refreshed?.challenge.rawValue
            }
        challenge(with: asked, sent)
    }

    /// Collects the body of a refused response. Returns the challenge if the body shows that the URL has expired.
    func collectErrorBody(_ bytes: RawSpan) -> AuthenticationChallenge? {
        attempt.exchange.collectErrorBody(bytes)
        let task = attempt.task
        guard attempt.authentication.authChallenge == nil, let head, mayBeRefreshed,
            RefreshPolicy.mayBeRequested(byBodyOf: head, task.request.options),
            RefreshPolicy.isRequested(byBody: attempt.exchange.errorBody)
        else { return nil }
        challenge(with: refresh(of: task), task.refreshed?.challenge.rawValue)
        return attempt.authentication.authChallenge
    }

    /// Whether a server of S3 has refused the request because its credentials had expired.
    var hasExpiredCredentials: Bool {
        attempt.isS3 && S3Error(attempt.exchange.errorBody)?.isOfExpiredCredentials == true
    }

    private func refresh(of task: StoredTask) -> AuthenticationChallenge {
        AuthenticationChallenge(
            refreshing: RefreshPolicy.space(task.request.options.refresh, of: task.id, origin: task.origin.text))
    }

    private func challenge(with asked: AuthenticationChallenge, _ sent: UInt64?) {
        attempt.authentication.sentCredential = sent
        attempt.authentication.authChallenge = asked
        attempt.authentication.authChallenge?.credentialWasRejected = sent != nil
        attempt.emit(.challenged(asked))
    }

    private func authChallenge(of head: ResponseHead, _ transfer: Transfer) -> AuthenticationChallenge? {
        let task = attempt.task
        // If a server with new headers still responds to HEAD with 403, the upload is gone.
        let isGone = head.status == 403 && asksForOffset && task.refreshed != nil
        if mayBeRefreshed, !isGone,
            RefreshPolicy.isRequested(by: head, task.request, attempt.terms.policy, origin: task.origin.text)
        {
            return refresh(of: task)
        }
        // Requests of S3 have a signature in place of a credential. A proxy may still demand one.
        guard attempt.terms.configuration.asksForCredentials, var asked = AuthenticationChallenge(head),
            !(attempt.isS3 && asked.space.kind == .server)
        else { return nil }
        let credentials = attempt.services.credentials[task.session]
        // A realm may repeat a secret of the request, so a new realm is redacted. A known realm is already in the
        // store, so it stays unchanged.
        if credentials?.knows(asked.space) != true {
            asked.space.realm = asked.space.realm.map(transfer.secrets.redacted)
        }
        return credentials?.proceeds(without: asked.space, after: task.challenge) == true ? nil : asked
    }

    /// Parks the task, or repeats its request with a credential that the task has not sent yet. `decision`: what
    /// `CredentialController` has decided.
    func park(
        _ authChallenge: AuthenticationChallenge, _ checkpoint: Checkpoint?,
        _ decision: CredentialController.ParkingDecision
    ) -> [EngineEffect] {
        switch decision {
        case .refused: process(.retryRefused)
        case .repeatRequest(isDelayed: true): retry(FailedAttempt(authChallenge.failure), checkpoint)
        case .repeatRequest(isDelayed: false):
            var record = parkingRecord(authChallenge, checkpoint)
            record.attempt?.next = .retry
            commit(record)
        case .wait(let wait): park(authChallenge, checkpoint, parkingRecord(authChallenge, checkpoint), wait)
        }
        return attempt.takeEffects()
    }

    private func parkingRecord(_ authChallenge: AuthenticationChallenge, _ checkpoint: Checkpoint?) -> AttemptRecord {
        var record = attemptRecord(checkpoint, failure: authChallenge.failure)
        record.attempt = storedAttempt(.challenge, failure: authChallenge.failure)
        return record
    }

    private func park(
        _ authChallenge: AuthenticationChallenge, _ checkpoint: Checkpoint?, _ record: AttemptRecord,
        _ wait: CredentialController.ParkingDecision.Wait
    ) {
        let id = attempt.task.id
        attempt.store(
            { [clocks = attempt.services.runtime.clocks] (transaction) throws(Failure) in
                try transaction.challenges.park(
                    id, record, for: authChallenge, failures: wait.failures, known: wait.known,
                    replacing: wait.replacing,
                    bootMilliseconds: clocks.bootMilliseconds, now: transaction.calendar(wait.now, clocks))
            },
            then: { [self] result in
                switch result {
                case .success(.superseded(let closed)):
                    attempt.emit(.challengeClosed(closed))
                    attempt.emit(.decideParking(authChallenge, checkpoint))
                case .success(let parking):
                    attempt.conclude(record.attempt)
                    parked(authChallenge, parking.parked)
                case .failure(let failure):
                    attempt.retryCommit(after: failure) { [unowned self] in
                        park(authChallenge, checkpoint, record, wait)
                    }
                }
            })
    }

    private func parked(_ authChallenge: AuthenticationChallenge, _ parked: ParkedTask?) {
        attempt.authentication.authChallenge = nil
        if parked != nil { attempt.stoppedState = (.waiting, .credential) }
        attempt.emit(.challengeHandled(authChallenge.space, opened: parked?.challenge))
        process(.concluded)
        guard let parked else { return }
        attempt.emit(.due(at: parked.nextDue))
        attempt.emit(.tasksWait(in: parked.change.lanes, reload: true))
        if parked.isNew { attempt.emit(.announce(parked.change)) }
    }
}
