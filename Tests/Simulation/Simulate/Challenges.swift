import CBackhaul
import CSimulation
import Glibc

/// How a program responds to challenges: at once, some minutes later, or when it is started again.
extension Program {
    private static let timeBetweenQueries = 600 * second

    mutating func handleChallenge(_ event: bh_event, acknowledges: Bool) {
        guard let challenge = event.challenge?.pointee else { return }
        record(.challengeIsOpen, first: Int64(challenge.id), second: Int64(challenge.kind))
        guard acknowledges else { return }
        if random.chance(60) { return respond(to: challenge) }
        // An acknowledgement of any event frees the keys of earlier rounds.
        if history.repeatsEnded { recordRound(of: event, -1) }
        record(.acknowledges, first: Int64(event.id))
        acknowledge(event)
        guard now < History.lastFault, random.chance(30) else { return }
        exit(for: world.programs.restart(after: random.magnitude(second...600 * second)))
    }

    /// Responds to all open challenges, if it has not done so for some minutes.
    mutating func respondToOpenChallenges() {
        guard history.hasCredentials, now >= nextChallengeQuery else { return }
        nextChallengeQuery = now + Self.timeBetweenQueries
        let challenges = openChallenges()
        defer { library.batch_release(challenges) }
        for challenge in library.items(challenges, BH_ITEM_CHALLENGE, bh_challenge.self) { respond(to: challenge) }
    }

    /// If a task waits for a credential, a challenge is open. The two lists are not of the same moment, so this asks
    /// several times.
    mutating func findMissingChallenge() {
        var waiting: UInt64?
        for _ in 0..<3 {
            let status = inspection.withTasks(&error) { tasks in
                waiting = tasks.first { $0.state == BH_TASK_WAITING && $0.reason == BH_REASON_CREDENTIAL }?.id
            }
            check(status)
            guard waiting != nil else { return }
            let challenges = openChallenges()
            defer { library.batch_release(challenges) }
            if library.batch_count(challenges) > 0 { return }
        }
        record(.listingIsWrong, first: Int64(waiting ?? 0), second: Inspection.Contradiction.noChallenge.rawValue)
    }

    /// Returns a batch, which the caller releases.
    private mutating func openChallenges() -> OpaquePointer? {
        var challenges: OpaquePointer?
        check(library.session_challenges(session, BH_WAIT_DEFAULT, &challenges, &error))
        return challenges
    }

    /// Responds with the present secret of the server, or sometimes with an older one.
    private mutating func respond(to challenge: bh_challenge) {
        let server = challenge.origin.map { Servers.server(String(cString: $0)) } ?? 0
        var secret = history.secret(of: server, at: now)
        if secret.index > 0, now < History.lastFault, random.chance(5) { secret.index -= 1 }
        var response = bh_challenge_response()
        library.`init`(&response, MemoryLayout<bh_challenge_response>.size)
        response.kind = bh_challenge_response_kind(BH_RESPOND_HEADERS)
        if challenge.kind == BH_CHALLENGE_SERVER, random.chance(30) { response.flags = UInt32(BH_RESPOND_AND_KEEP) }
        if random.chance(30), let rotation = history.nextRotation(of: server, after: now) {
            response.expires_ms = Inspection.now + (rotation - now) / millisecond + 1
        }
        record(.secretIsOffered, first: secret.number, second: Int64(challenge.kind))
        switch give(secret, &response, to: challenge.id) {
        case bh_status(BH_OK): record(.secretIsTaken, first: secret.number, second: Int64(challenge.kind))
        // No task waits for the challenge any more.
        case bh_status(BH_NOT_FOUND): break
        // The calendar was set after the program had read it.
        case bh_status(BH_INVALID_ARGUMENT) where response.expires_ms > 0: break
        case let status: check(status)
        }
    }

    private mutating func give(
        _ secret: Secret, _ response: inout bh_challenge_response, to challenge: UInt64
    ) -> bh_status {
        let texts = [strdup("Authorization"), strdup(secret.value)]
        defer { for text in texts { free(text) } }
        let header = bh_header(name: UnsafePointer(texts[0]), value: UnsafePointer(texts[1]))
        return withUnsafePointer(to: header) { header in
            (response.headers, response.header_count) = (header, 1)
            return library.session_respond(session, challenge, &response, BH_WAIT_DEFAULT, &error)
        }
    }

    /// Records a task that has failed because a server refused it. Such a task must wait for the program's secret.
    func recordRefusal(_ event: bh_event, _ task: Int) {
        guard history.plan(task)?.credential != nil, [401, 403].contains(event.http_status),
            [BH_HTTP_STATUS, BH_AUTHENTICATION_REQUIRED].contains(Int(event.status))
        else { return }
        record(.taskIsRefused, task, first: Int64(event.http_status))
    }
}
