/// What one session knows of protection spaces while its engine lives: which challenges are open, which answers are in
/// use, and which lanes may try one task only. A value without I/O; its text never shows an answer.
///
/// A lane is named by its origin's text, as the session has one for each.
public struct SessionCredentials: Sendable {
    /// An answer that may be sent. The number, its challenge's, tells it from earlier and later ones.
    public struct Answer: Equatable, Sendable {
        public var number: UInt64
        public var response: ChallengeResponse
        /// How a user name and password are given.
        public var scheme: AuthenticationSchemes
    }

    /// What a task is to wait for before it is tried.
    public enum Wait: Hashable, Sendable {
        case open(ChallengeID)
        /// An answer is too old to be sent, and the challenge is to be opened anew. `replacing`: the old one's.
        case ask(AuthenticationDemand, replacing: ChallengeID?)
    }

    /// What an answer that asks for a credential means.
    public enum Verdict: Equatable, Sendable {
        /// There is an answer that this request has not sent: send it again.
        case again
        /// Wait for the challenge. `failures`: answers that did not serve. `replacing`: whose tasks wait again with it.
        case ask(failures: UInt32, replacing: ChallengeID?)
        /// The host has refused while this request was under way.
        case refused
    }

    struct Given: Sendable {
        var answer: Answer
        var challenge: ChallengeID
        /// Unix milliseconds.
        var expires: Int64?
        var isProven = false
        /// Among the failures, although it is still sent for others.
        var isCounted = false
    }

    struct Space: Sendable {
        var open: ChallengeID?
        var given: Given?
        var schemes: AuthenticationSchemes = []
        /// The challenge of an answer that is too old, until the host is asked again.
        var expired: ChallengeID?
        var failures: UInt32 = 0
        var replaced: ChallengeID?
        /// Tasks that have met it and whose waiting is not committed yet.
        var pending = 0
        var isRefused = false
        var lanes: Set<String> = []
        var scopes: [String] = []
        /// Of a proxy: lanes that were asked again with an answer that had served, and so wait alone.
        var disputed: Set<String> = []
        /// Lanes that disputed an answer which served others afterwards. A server can pretend to be the proxy.
        var contrary: Set<String> = []

        /// Whether tasks of the lane that need the answer are to wait for the open challenge.
        func waits(_ lane: String) -> Bool {
            open != nil && (given == nil || disputed.isEmpty || disputed.contains(lane) || contrary.contains(lane))
        }

        /// `waitsUntried`: all that need the answer are known by their requests, so that the others need no care.
        func isProbed(_ lane: String, waitsUntried: Bool) -> Bool {
            guard lanes.contains(lane) else { return false }
            return !waitsUntried && waits(lane) || pending > 0 || given.map { !$0.isProven } ?? false
        }

        var isIdle: Bool { open == nil && given == nil && expired == nil && pending == 0 }
    }

    /// Open challenges of one origin in one session: a server that invents realms fills nobody's store.
    public static let challengeLimit = 16
    private static let scopeLimit = 64
    private static let declinedLimit = 256
    var spaces: [ProtectionSpace: Space] = [:]
    /// Challenges whose tasks go on without an answer.
    var declined: [ChallengeID: ProtectionSpace] = [:]
    /// Answers in a row to a task's refreshes of its URL that did not serve yet.
    var addressFailures: [TaskID: UInt32] = [:]

    public init() {}

    public var isEmpty: Bool { spaces.isEmpty && declined.isEmpty && addressFailures.isEmpty }

    public func knows(_ space: ProtectionSpace) -> Bool { spaces[space] != nil }

    public func openChallenge(of space: ProtectionSpace) -> ChallengeID? { spaces[space]?.open }

    // MARK: What happens

    /// A task of the lane was asked for a credential.
    public mutating func met(_ demand: AuthenticationDemand, in lane: String) {
        // A task's own URL concerns no other task.
        guard demand.space.task == nil else { return }
        var space = spaces[demand.space] ?? Space()
        space.pending += 1
        space.schemes = demand.schemes
        space.lanes.insert(lane)
        if demand.space.kind == .server { space.lanes.insert(demand.space.origin) }
        // The latest first, also when others claim the same files.
        for other in spaces.keys where other != demand.space && Self.isSameServer(other, demand.space) {
            spaces[other]?.scopes.removeAll { $0 == demand.scope }
        }
        if !space.scopes.contains(demand.scope), space.scopes.count < Self.scopeLimit {
            space.scopes.append(demand.scope)
        }
        spaces[demand.space] = space
    }

    /// Every task that `met` it says once how that ended: with this challenge, or with none.
    public mutating func settled(_ space: ProtectionSpace, challenge: ChallengeID?) {
        guard var state = spaces[space] else { return }
        state.pending = max(0, state.pending - 1)
        if let challenge {
            state.open = challenge
            state.expired = nil
            state.replaced = nil
        }
        if state.pending == 0 { state.isRefused = false }
        spaces[space] = state.isIdle ? nil : state
    }

    /// Open since before this engine.
    public mutating func learn(_ challenge: Challenge) {
        guard challenge.space.task == nil else { return }
        var state = spaces[challenge.space] ?? Space()
        state.open = challenge.id
        state.schemes = challenge.schemes
        state.failures = challenge.failures
        if challenge.space.kind != .proxy { state.lanes.insert(challenge.space.origin) }
        spaces[challenge.space] = state
    }

    /// `expires`: Unix milliseconds after which it is not sent any more.
    public mutating func answered(_ challenge: Challenge, _ response: ChallengeResponse, expires: Int64? = nil) {
        if let task = challenge.space.task {
            addressFailures[task] = response == .standard ? nil : challenge.failures &+ 1
            return
        }
        guard response != .standard else { return decline(challenge) }
        var state = spaces[challenge.space] ?? Space()
        let scheme = AuthenticationSchemes.strongest(of: challenge.schemes, for: response)
        let answer = Answer(number: challenge.id.rawValue, response: response, scheme: scheme)
        state.open = nil
        state.expired = nil
        state.failures = challenge.failures
        state.schemes = challenge.schemes
        state.given = Given(answer: answer, challenge: challenge.id, expires: expires)
        state.isRefused = false
        state.disputed = []
        if challenge.space.kind != .proxy { state.lanes.insert(challenge.space.origin) }
        spaces[challenge.space] = state
    }

    /// An answer of an earlier engine that was to be kept: it has served, as far as anyone knows.
    public mutating func learn(_ kept: KeptAnswer) {
        answered(
            Challenge(
                id: kept.challenge, space: kept.space, schemes: kept.schemes, failures: 0, timeMilliseconds: 0,
                waitingTasks: 0), kept.response, expires: kept.expiresMilliseconds)
        spaces[kept.space]?.given?.isProven = true
    }

    private mutating func decline(_ challenge: Challenge) {
        if declined.count >= Self.declinedLimit, let oldest = declined.keys.min() { declined[oldest] = nil }
        declined[challenge.id] = challenge.space
        guard var state = spaces[challenge.space] else { return }
        if state.open == challenge.id { state.open = nil }
        state.failures = 0
        spaces[challenge.space] = state.isIdle ? nil : state
    }

    /// Forgets the answers that are too old by now: the host is asked again. True when there were some.
    public mutating func expire(now: Int64) -> Bool {
        var changed = false
        for (space, state) in spaces {
            guard let given = state.given, let expires = given.expires, expires <= now else { continue }
            spaces[space]?.given = nil
            spaces[space]?.failures = 0
            spaces[space]?.disputed = []
            spaces[space]?.expired = given.challenge
            changed = true
        }
        return changed
    }

    public mutating func refused(_ challenge: Challenge) {
        guard var state = spaces[challenge.space] else { return }
        if state.open == challenge.id { state.open = nil }
        state.failures = 0
        state.given?.isCounted = false
        state.isRefused = state.pending > 0
        spaces[challenge.space] = state.isIdle ? nil : state
    }

    /// Its last waiting task is gone.
    public mutating func closed(_ challenge: ChallengeID) {
        for (space, state) in spaces where state.open == challenge {
            var state = state
            state.open = nil
            spaces[space] = state.isIdle ? nil : state
        }
    }

    /// A task with a URL that the host has given was let in, or has ended.
    public mutating func acceptedAddress(of task: TaskID) { addressFailures[task] = nil }

    /// A request of the lane with these answers was not asked for others. True when a lane is probed no more.
    public mutating func accepted(_ numbers: [UInt64], in lane: String) -> Bool {
        var changed = false
        for (space, state) in spaces {
            guard let given = state.given, numbers.contains(given.answer.number) else { continue }
            if space.kind == .proxy, !state.disputed.isEmpty || !state.contrary.isEmpty {
                spaces[space]?.disputed.remove(lane)
                spaces[space]?.contrary.formUnion(state.disputed)
                spaces[space]?.contrary.remove(lane)
            }
            guard !given.isProven else { continue }
            spaces[space]?.given?.isProven = true
            spaces[space]?.failures = 0
            changed = true
        }
        return changed
    }

    /// What a task of the lane that has met the space is to do; `sent`: the answers that its requests have carried and
    /// that were followed by a question, for whichever realm.
    ///
    /// A proxy's answer that has served is not dropped for one lane's question: a server that is reached without a
    /// tunnel can ask in the proxy's name. That lane waits alone; if the answer has expired, the others will follow.
    public mutating func verdict(on space: ProtectionSpace, sent: Set<UInt64>, in lane: String) -> Verdict {
        if let task = space.task { return .ask(failures: addressFailures[task] ?? 0, replacing: nil) }
        guard var state = spaces[space] else { return .ask(failures: 0, replacing: nil) }
        if state.isRefused { return .refused }
        if let given = state.given {
            guard sent.contains(given.answer.number) else { return .again }
            // What is to be refreshed has served until it was too old.
            if !given.isCounted, !(space.kind == .refresh && given.isProven) {
                state.failures &+= 1
            }
            if space.kind == .proxy, given.isProven || state.contrary.contains(lane) {
                state.given?.isCounted = true
                state.disputed.insert(lane)
                spaces[space] = state
                return .ask(failures: state.failures, replacing: nil)
            }
            state.given = nil
            state.disputed = []
            state.replaced = given.challenge
            spaces[space] = state
        }
        return .ask(failures: state.failures, replacing: state.replaced)
    }

    static func isSameServer(_ left: ProtectionSpace, _ right: ProtectionSpace) -> Bool {
        left.kind == right.kind && left.origin == right.origin
    }
}

extension SessionCredentials: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["spaces": spaces.count]) }
}
