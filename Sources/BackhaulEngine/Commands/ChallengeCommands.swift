internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The commands that list challenges and respond to them. A challenge demands a credential, new headers or a new URL
/// from the host, which is the program that uses the library.
struct ChallengeCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    /// The limit on the challenges in one reply. This many challenges fit into a message, even with the longest realms.
    private static let challengeCount = 1_000

    func challenges(of session: SessionID) {
        call.read { (transaction) throws(Failure) in
            .challenges(Array(try transaction.challenges.all(of: session).prefix(Self.challengeCount)))
        }
    }

    /// Applies the host's response to a challenge. A credential is stored only if the host demands this. A new URL and
    /// new header fields are always stored, because they replace those of stored requests.
    func respond(
        _ id: ChallengeID, _ response: ChallengeResponse, _ lifetime: CredentialLifetime, in session: SessionID
    ) throws(Failure) {
        let now = engine.runtime.clocks.wallMilliseconds
        try ResponseCheck.check(response, lifetime, now: now)
        var origin: Origin?
        if case .url(let url) = response { origin = try URLParser.origin(of: url) }
        let found = Lock<(challenge: Challenge, newest: TaskID?)?>(nil)
        call.applyOnce(
            { [origin] (transaction) throws(Failure) in
                let challenge = try transaction.challenges.openChallenge(id, of: session)
                try ResponseCheck.check(response, for: challenge)
                found.withLock { $0 = (challenge, nil) }
                if response == .refuse {
                    return (.done, try transaction.endings.failTasks(of: challenge, in: session, now: now))
                }
                let newest = try transaction.write(response, lifetime, to: challenge, origin, of: session)
                found.withLock { $0?.newest = newest }
                return (.done, try transaction.challenges.releaseTasks(of: challenge, in: session, now: now))
            },
            then: { change in
                guard let change, let (challenge, newest) = found.withLock({ $0 }) else { return }
                if response == .refuse {
                    engine.queue(engine.base.credentials.refused(challenge, session))
                    engine.apply(change, tasksEndedOrStopped: .cancel, as: .failed)
                } else {
                    engine.queue(
                        engine.base.credentials.responded(to: challenge, response, lifetime, newest: newest, session))
                    engine.tasks.scheduler.tasksWait(in: change.lanes, reload: true)
                    engine.announce(change)
                }
            })
    }
}

extension Transaction {
    /// Returns the newest task that has the new headers.
    fileprivate func write(
        _ response: ChallengeResponse, _ lifetime: CredentialLifetime, to challenge: Challenge, _ origin: Origin?,
        of session: SessionID
    ) throws(Failure) -> TaskID? {
        guard challenge.space.kind == .refresh else {
            try keep(response, lifetime, to: challenge, of: session)
            return nil
        }
        var refreshed = RefreshedRequest(
            challenge: challenge.id, expiresMilliseconds: lifetime.expiresMilliseconds,
            isDeclined: response == .standard)
        if case .headers(let headers) = response { refreshed.headers = headers }
        if case .url(let url) = response { refreshed.url = url }
        return try credentials.refresh(challenge, with: refreshed, origin: origin, in: session)
    }

    private func keep(
        _ response: ChallengeResponse, _ lifetime: CredentialLifetime, to challenge: Challenge, of session: SessionID
    ) throws(Failure) {
        guard lifetime.isKept else { return try credentials.forget(challenge.space, of: session) }
        try credentials.keep(
            StoredCredential(
                space: challenge.space, challenge: challenge.id, schemes: challenge.schemes, response: response,
                expiresMilliseconds: lifetime.expiresMilliseconds), of: session)
    }
}
