internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

extension CommandHandler {
    /// They fit in one reply, however long their realms are.
    private static let challengeCount = 1_000

    func challenges(of session: SessionID) {
        read { (transaction) throws(Failure) in
            .challenges(Array(try transaction.challenges(session).prefix(Self.challengeCount)))
        }
    }

    /// The answer stays in this closure and in the engine's memory: what is stored of the command is its reply.
    func respond(
        _ id: ChallengeID, _ response: ChallengeResponse, _ life: AnswerLife, in session: SessionID
    ) throws(Failure) {
        try ResponseCheck.check(response, life)
        let answered = Lock<Challenge?>(nil)
        once({ (transaction) throws(Failure) in
            let challenge = try transaction.openChallenge(id, of: session)
            try ResponseCheck.check(response, for: challenge)
            answered.withLock { $0 = challenge }
            let change =
                response == .refuse
                ? try transaction.failTasks(of: challenge, in: session, now: Clock.wallMilliseconds)
                : try transaction.freeTasks(of: challenge, in: session)
            return (.done, change)
        }, then: { core, change in
            guard let change, let challenge = answered.withLock({ $0 }) else { return }
            if response == .refuse {
                core.refused(challenge, session, change)
            } else {
                core.answered(challenge, response, session, change)
            }
        })
    }
}
