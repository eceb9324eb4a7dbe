/// What one session knows of protection spaces while its engine lives: which challenges are open, which answers are in
/// use, and which lanes may try one task only. A value without I/O; its text never shows an answer.
///
/// A lane is named by its origin's text, as the session has one for each.
public struct SessionCredentials: Sendable {
    /// An answer that may be sent. The number tells it from earlier and later ones.
    public struct Answer: Equatable, Sendable {
        public var number: UInt64
        public var response: ChallengeResponse
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

    private struct Given: Sendable {
        var answer: Answer
        var challenge: ChallengeID
        var isProven = false
        /// Among the failures, although it is still sent for others.
        var isCounted = false
    }

    private struct Space: Sendable {
        var open: ChallengeID?
        var given: Given?
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

        func isProbed(_ lane: String) -> Bool {
            lanes.contains(lane) && (waits(lane) || pending > 0 || given.map { !$0.isProven } ?? false)
        }

        var isIdle: Bool { open == nil && given == nil && pending == 0 }
    }

    /// Open challenges of one origin in one session: a server that invents realms fills nobody's store.
    public static let challengeLimit = 16
    private static let scopeLimit = 64
    private var spaces: [ProtectionSpace: Space] = [:]
    private var lastNumber: UInt64 = 0

    public init() {}

    public var isEmpty: Bool { spaces.isEmpty }

    public func knows(_ space: ProtectionSpace) -> Bool { spaces[space] != nil }

    // MARK: What happens

    /// A task of the lane was asked for a credential.
    public mutating func met(_ demand: AuthenticationDemand, in lane: String) {
        var space = spaces[demand.space] ?? Space()
        space.pending += 1
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
            state.replaced = nil
        }
        if state.pending == 0 { state.isRefused = false }
        spaces[space] = state.isIdle ? nil : state
    }

    /// Open since before this engine.
    public mutating func learn(_ challenge: Challenge) {
        var state = spaces[challenge.space] ?? Space()
        state.open = challenge.id
        state.failures = challenge.failures
        if challenge.space.kind == .server { state.lanes.insert(challenge.space.origin) }
        spaces[challenge.space] = state
    }

    public mutating func answered(_ challenge: Challenge, _ response: ChallengeResponse) {
        var state = spaces[challenge.space] ?? Space()
        lastNumber += 1
        state.open = nil
        state.failures = challenge.failures
        state.given = Given(answer: Answer(number: lastNumber, response: response), challenge: challenge.id)
        state.isRefused = false
        state.disputed = []
        if challenge.space.kind == .server { state.lanes.insert(challenge.space.origin) }
        spaces[challenge.space] = state
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
        guard var state = spaces[space] else { return .ask(failures: 0, replacing: nil) }
        if state.isRefused { return .refused }
        if let given = state.given {
            guard sent.contains(given.answer.number) else { return .again }
            if !given.isCounted { state.failures &+= 1 }
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

    // MARK: What follows

    /// What may be sent to this server for this URL without being asked. With one known realm its answer; with several
    /// that of the realm that has asked for this file or its directory.
    public func answer(server origin: String, url: String) -> Answer? {
        guard !spaces.isEmpty else { return nil }
        let known = spaces.filter { $0.key.kind == .server && $0.key.origin == origin }
        if known.count == 1 { return known.first?.value.given?.answer }
        return nearest(known, to: url)?.value.given?.answer
    }

    public func answer(proxy origin: String) -> Answer? {
        let known = spaces.filter { $0.key.kind == .proxy && $0.key.origin == origin }
        return known.count == 1 ? known.first?.value.given?.answer : known.values.compactMap(\.given).last?.answer
    }

    /// True while a task of this session has met a proxy that asks.
    public var knowsProxies: Bool { spaces.keys.contains { $0.kind == .proxy } }

    /// At most one task of the lane is to be tried at a time.
    public func isProbed(_ lane: String) -> Bool {
        spaces.values.contains { $0.isProbed(lane) }
    }

    /// The open challenge for which a task can wait without asking: the server has asked for the files of its directory
    /// already, or its way leads through the proxy that asks.
    public func challenge(for url: String, in lane: String) -> ChallengeID? {
        guard !spaces.isEmpty else { return nil }
        let proxy = spaces.first {
            $0.key.kind == .proxy && $0.value.lanes.contains(lane) && $0.value.waits(lane)
        }
        if let proxy { return proxy.value.open }
        let known = spaces.filter { $0.key.kind == .server && $0.key.origin == lane }
        return nearest(known, to: url)?.value.open
    }

    public func mayOpen(_ space: ProtectionSpace) -> Bool {
        spaces[space]?.open != nil
            || spaces.count { Self.isSameServer($0.key, space) && $0.value.open != nil } < Self.challengeLimit
    }

    private static func isSameServer(_ left: ProtectionSpace, _ right: ProtectionSpace) -> Bool {
        left.kind == right.kind && left.origin == right.origin
    }

    private func nearest(
        _ known: [ProtectionSpace: Space], to url: String
    ) -> (key: ProtectionSpace, value: Space)? {
        let path = URLPath.of(url)
        let depths = known.compactMap { entry in
            entry.value.scopes.filter { path.starts(with: $0.utf8) }.map(\.utf8.count).max().map { (entry, $0) }
        }
        return depths.max { $0.1 < $1.1 }?.0
    }
}

extension SessionCredentials: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["spaces": spaces.count]) }
}
