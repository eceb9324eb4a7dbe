/// What one session knows of protection spaces while its engine runs: the open challenges, the credentials in use, and
/// the lanes that may try only one task at a time. A value without I/O; its description never shows a credential.
///
/// A lane is named by its origin's text, because a session has one lane for each origin.
public struct SessionCredentials: Sendable {
    /// A credential that may be sent. The number is that of its challenge, and distinguishes it from earlier and later
    /// credentials.
    public struct Credential: Equatable, Sendable {
        public var number: UInt64
        public var response: ChallengeResponse
        /// The scheme with which a user name and password are sent.
        public var scheme: AuthenticationSchemes
    }

    /// What a task must wait for before it is tried.
    public enum PendingChallenge: Hashable, Sendable {
        case open(ChallengeID)
        /// The credential is too old to be sent, so a new challenge must be opened. `replacing`: the challenge of the
        /// old credential.
        case ask(AuthenticationChallenge, replacing: ChallengeID?)
    }

    /// What a response that demands a credential means.
    public enum Decision: Equatable, Sendable {
        /// There is a credential that this request has not sent: send the request again.
        case resend
        /// Wait for a challenge. `failures`: credentials in a row that the server did not accept. `replacing`: an
        /// earlier challenge, whose tasks wait for the new one, too.
        case ask(failures: UInt32, replacing: ChallengeID?)
        /// The host has refused while this request was in progress.
        case refused
    }

    struct CurrentCredential: Sendable {
        var credential: Credential
        var challenge: ChallengeID
        /// Unix milliseconds.
        var expires: Int64?
        var isProven = false
        /// Whether `failures` counts this credential already, although it is still sent for other lanes.
        var isCounted = false
    }

    struct Space: Sendable {
        var open: ChallengeID?
        var current: CurrentCredential?
        var schemes: AuthenticationSchemes = []
        /// The challenge of a credential that is too old, until a new challenge is open.
        var expired: ChallengeID?
        var failures: UInt32 = 0
        var replaced: ChallengeID?
        /// The number of tasks that have met the challenge and whose waiting is not committed yet.
        var pending = 0
        var isRefused = false
        var lanes: Set<String> = []
        var scopes: [String] = []
        /// For a proxy: lanes that got a 407 for a credential which had worked. Only these lanes wait.
        var disputed: Set<String> = []
        /// Lanes that got a 407 for a credential which worked for other lanes afterwards. A server can pretend to be
        /// the proxy.
        var contrary: Set<String> = []

        /// Whether tasks of the lane that need the credential must wait for the open challenge.
        func waits(_ lane: String) -> Bool {
            open != nil && (current == nil || disputed.isEmpty || disputed.contains(lane) || contrary.contains(lane))
        }

        /// `waitsUntried`: the requests themselves show which tasks need the credential, so the lane's other tasks are
        /// not limited.
        func isProbed(_ lane: String, waitsUntried: Bool) -> Bool {
            guard lanes.contains(lane) else { return false }
            return !waitsUntried && waits(lane) || pending > 0 || current.map { !$0.isProven } ?? false
        }

        var isIdle: Bool { open == nil && current == nil && expired == nil && pending == 0 }
    }

    /// The most open challenges of one origin in one session. A server that invents realms cannot fill the store.
    public static let challengeLimit = 16
    private static let scopeLimit = 64
    private static let declinedLimit = 256
    var spaces: [ProtectionSpace: Space] = [:]
    /// Challenges whose tasks continue without a credential.
    var declined: [ChallengeID: ProtectionSpace] = [:]
    /// For each task: responses of the host in a row to a refresh of its URL that have not worked yet.
    var urlFailures: [TaskID: UInt32] = [:]

    public init() {}

    public var isEmpty: Bool { spaces.isEmpty && declined.isEmpty && urlFailures.isEmpty }

    public func knows(_ space: ProtectionSpace) -> Bool { spaces[space] != nil }

    public func openChallenge(of space: ProtectionSpace) -> ChallengeID? { spaces[space]?.open }

    // MARK: What happens

    /// A task of the lane got a challenge.
    public mutating func noteChallenge(_ authChallenge: AuthenticationChallenge, in lane: String) {
        // A refresh of one task's URL concerns no other task.
        guard authChallenge.space.task == nil else { return }
        var space = spaces[authChallenge.space] ?? Space()
        space.pending += 1
        space.schemes = authChallenge.schemes
        space.lanes.insert(lane)
        if authChallenge.space.kind == .server { space.lanes.insert(authChallenge.space.origin) }
        // The latest challenge for a directory counts, even if other realms claim the same files.
        for other in spaces.keys where other != authChallenge.space && Self.isSameServer(other, authChallenge.space) {
            spaces[other]?.scopes.removeAll { $0 == authChallenge.scope }
        }
        if !space.scopes.contains(authChallenge.scope), space.scopes.count < Self.scopeLimit {
            space.scopes.append(authChallenge.scope)
        }
        spaces[authChallenge.space] = space
    }

    /// Called once for every task that `noteChallenge` the challenge: its waiting is committed, with this challenge or
    /// with none.
    public mutating func commitChallenge(_ space: ProtectionSpace, challenge: ChallengeID?) {
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

    /// Adopts a challenge that was open before this engine started.
    public mutating func restore(_ challenge: Challenge) {
        guard challenge.space.task == nil else { return }
        var state = spaces[challenge.space] ?? Space()
        state.open = challenge.id
        state.schemes = challenge.schemes
        state.failures = challenge.failures
        if challenge.space.kind != .proxy { state.lanes.insert(challenge.space.origin) }
        spaces[challenge.space] = state
    }

    /// `expires`: Unix milliseconds after which the credential is not sent any more.
    public mutating func storeResponse(_ challenge: Challenge, _ response: ChallengeResponse, expires: Int64? = nil) {
        if let task = challenge.space.task {
            urlFailures[task] = response == .standard ? nil : challenge.failures &+ 1
            return
        }
        guard response != .standard else { return decline(challenge) }
        var state = spaces[challenge.space] ?? Space()
        let scheme = AuthenticationSchemes.strongest(of: challenge.schemes, for: response)
        let credential = Credential(number: challenge.id.rawValue, response: response, scheme: scheme)
        state.open = nil
        state.expired = nil
        state.failures = challenge.failures
        state.schemes = challenge.schemes
        state.current = CurrentCredential(credential: credential, challenge: challenge.id, expires: expires)
        state.isRefused = false
        state.disputed = []
        if challenge.space.kind != .proxy { state.lanes.insert(challenge.space.origin) }
        spaces[challenge.space] = state
    }

    /// Adopts a credential that an earlier engine has stored. As far as the engine knows, it works.
    public mutating func restore(_ kept: StoredCredential) {
        storeResponse(
            Challenge(
                id: kept.challenge, space: kept.space, schemes: kept.schemes, failures: 0, timeMilliseconds: 0,
                waitingTasks: 0), kept.response, expires: kept.expiresMilliseconds)
        spaces[kept.space]?.current?.isProven = true
    }

    private mutating func decline(_ challenge: Challenge) {
        if declined.count >= Self.declinedLimit, let oldest = declined.keys.min() { declined[oldest] = nil }
        declined[challenge.id] = challenge.space
        guard var state = spaces[challenge.space] else { return }
        if state.open == challenge.id { state.open = nil }
        state.failures = 0
        spaces[challenge.space] = state.isIdle ? nil : state
    }

    /// Forgets credentials that are too old now; the host must give new ones. Returns whether there were any.
    public mutating func expire(now: Int64) -> Bool {
        var changed = false
        for (space, state) in spaces {
            guard let current = state.current, let expires = current.expires, expires <= now else { continue }
            spaces[space]?.current = nil
            spaces[space]?.failures = 0
            spaces[space]?.disputed = []
            spaces[space]?.expired = current.challenge
            changed = true
        }
        return changed
    }

    public mutating func refused(_ challenge: Challenge) {
        guard var state = spaces[challenge.space] else { return }
        if state.open == challenge.id { state.open = nil }
        state.failures = 0
        state.current?.isCounted = false
        state.isRefused = state.pending > 0
        spaces[challenge.space] = state.isIdle ? nil : state
    }

    /// The last task that waited for the challenge is gone.
    public mutating func closed(_ challenge: ChallengeID) {
        for (space, state) in spaces where state.open == challenge {
            var state = state
            state.open = nil
            spaces[space] = state.isIdle ? nil : state
        }
    }

    /// The server has accepted a task's URL that the host had given, or the task has ended.
    public mutating func acceptedURL(of task: TaskID) { urlFailures[task] = nil }

    /// A request of the lane with these credentials got no further challenge. Returns whether a lane is not probed any
    /// more.
    public mutating func accepted(_ numbers: [UInt64], in lane: String) -> Bool {
        var changed = false
        for (space, state) in spaces {
            guard let current = state.current, numbers.contains(current.credential.number) else { continue }
            if space.kind == .proxy, !state.disputed.isEmpty || !state.contrary.isEmpty {
                spaces[space]?.disputed.remove(lane)
                spaces[space]?.contrary.formUnion(state.disputed)
                spaces[space]?.contrary.remove(lane)
            }
            guard !current.isProven else { continue }
            spaces[space]?.current?.isProven = true
            spaces[space]?.failures = 0
            changed = true
        }
        return changed
    }

    /// What a task of the lane that has met the space must do. `sent`: the credentials of its requests that got a 401
    /// or 407, for any realm.
    ///
    /// A 407 in one lane does not discard a proxy's credential that has worked: without a tunnel, a server can pretend
    /// to be the proxy. Only that lane waits. If the credential has really expired, the other lanes get a 407, too.
    public mutating func decision(on space: ProtectionSpace, sent: Set<UInt64>, in lane: String) -> Decision {
        if let task = space.task { return .ask(failures: urlFailures[task] ?? 0, replacing: nil) }
        guard var state = spaces[space] else { return .ask(failures: 0, replacing: nil) }
        if state.isRefused { return .refused }
        if let current = state.current {
            guard sent.contains(current.credential.number) else { return .resend }
            // A credential to be refreshed has worked until it was too old, so it is no failure.
            if !current.isCounted, !(space.kind == .refresh && current.isProven) {
                state.failures &+= 1
            }
            if space.kind == .proxy, current.isProven || state.contrary.contains(lane) {
                state.current?.isCounted = true
                state.disputed.insert(lane)
                spaces[space] = state
                return .ask(failures: state.failures, replacing: nil)
            }
            state.current = nil
            state.disputed = []
            state.replaced = current.challenge
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
