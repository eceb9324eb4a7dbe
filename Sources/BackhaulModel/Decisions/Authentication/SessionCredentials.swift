/// What one session knows about its protection spaces while the engine runs. A protection space is where one credential
/// is valid: a realm of a server or proxy. A challenge demands a credential from the host, which is the program that
/// uses the library. A lane is the session's tasks for one origin, so the text of the origin identifies the lane. This
/// type contains the open challenges, the credentials in use, and the lanes in which only one task may run at a time.
/// This type performs no I/O, and its `String(describing:)` shows no credential.
public struct SessionCredentials: Sendable {
    /// A credential that may be sent. Its number is the id of its challenge, so earlier and later credentials have
    /// other numbers.
    public struct Credential: Equatable, Sendable {
        public var number: UInt64
        public var response: ChallengeResponse
        /// The scheme with which a user name and password are sent.
        public var scheme: AuthenticationSchemes
    }

    /// A challenge for which a task must wait before its first request.
    public enum PendingChallenge: Hashable, Sendable {
        case open(ChallengeID)
        /// The credential has expired, so a new challenge must be opened. `replacing`: the challenge of the old
        /// credential.
        case openChallenge(AuthenticationChallenge, replacing: ChallengeID?)
    }

    /// What a task does after a response that demands a credential.
    public enum Decision: Equatable, Sendable {
        /// Send the request again, with a credential that this request has not sent yet.
        case resend
        /// Wait for a challenge. `failures`: how many credentials in a row the server did not accept. `replacing`: an
        /// earlier challenge, whose tasks also wait for the new challenge.
        case openChallenge(failures: UInt32, replacing: ChallengeID?)
        /// The task gets no credential, because the host refused the challenge while this request was in progress, or
        /// because the server has rejected `rejectionLimit` credentials of the task.
        case refused
    }

    struct CurrentCredential: Sendable {
        var credential: Credential
        var challenge: ChallengeID
        /// When the credential expires, in Unix milliseconds; nil if this is not known.
        var expires: Int64?
        /// For new headers: the newest task that has them. Later tasks were enqueued with headers of their own.
        var newest: TaskID?
        var isProven = false
        /// Whether `failures` already counts this credential as not accepted. Other lanes may still send it.
        var isCounted = false

        func applies(to task: TaskID?) -> Bool {
            guard let newest, let task else { return true }
            return task <= newest
        }
    }

    struct Space: Sendable {
        var open: ChallengeID?
        var current: CurrentCredential?
        var schemes: AuthenticationSchemes = []
        /// The challenge of an expired credential; nil after a new challenge is open.
        var expired: ChallengeID?
        var failures: UInt32 = 0
        var replaced: ChallengeID?
        /// The number of calls of `noteChallenge` for this space that no call of `commitChallenge` has completed yet.
        /// Between the two calls, the store records whether the task waits.
        var pending = 0
        var isRefused = false
        var lanes: Set<String> = []
        /// Directories of URLs, the oldest first. For all URLs in these directories, the server probably demands the
        /// same credential (RFC 7617, section 2.2).
        var scopes: [String] = []
        /// For a proxy: lanes that got a 407 although the proxy's credential has worked. While there are such lanes,
        /// only these lanes and the lanes in `contrary` wait.
        var disputed: Set<String> = []
        /// Lanes that got a 407 with a credential that later worked in other lanes. The server of such a lane may
        /// pretend to be the proxy.
        var contrary: Set<String> = []

        /// Whether a task of the lane must wait for the open challenge if the task needs the credential.
        func waits(_ lane: String) -> Bool {
            open != nil && (current == nil || disputed.isEmpty || disputed.contains(lane) || contrary.contains(lane))
        }

        /// Whether only one task of the lane may run at a time. `isRefresh`: the challenge demands new headers. In this
        /// case, the options of each request show whether the request needs new headers (`RequestOptions.refresh`). So
        /// an open challenge does not limit the tasks that need no new headers.
        func runsOneTask(_ lane: String, isRefresh: Bool) -> Bool {
            guard lanes.contains(lane) else { return false }
            return !isRefresh && waits(lane) || pending > 0 || current.map { !$0.isProven } ?? false
        }

        var isIdle: Bool { open == nil && current == nil && expired == nil && pending == 0 }
    }

    /// The limit of open challenges for one origin in one session. Because of this limit, a server that invents realms
    /// cannot fill the store.
    public static let challengeLimit = 16
    /// How many credentials a task sends to one server in a row that the server rejects, whatever their realms are. The
    /// next rejection ends the task. Without this limit, a server that invents a realm for each response gets the
    /// credential endlessly from a host that responds to each challenge and ignores `failures`.
    public static let rejectionLimit = 16
    /// The limit of credentials for one origin in one session. A server that invents realms gets a further credential
    /// for each realm.
    public static let credentialLimit = 64
    private static let scopeLimit = 64
    private static let declinedLimit = 256
    var spaces: [ProtectionSpace: Space] = [:]
    /// Challenges whose tasks continue without a credential.
    var declined: [ChallengeID: ProtectionSpace] = [:]
    /// For each task: how many new URLs from the host have failed in a row.
    var urlFailures: [TaskID: UInt32] = [:]

    public init() {}

    public var isEmpty: Bool { spaces.isEmpty && declined.isEmpty && urlFailures.isEmpty }

    public func knows(_ space: ProtectionSpace) -> Bool { spaces[space] != nil }

    public func openChallenge(of space: ProtectionSpace) -> ChallengeID? { spaces[space]?.open }

    // MARK: What happens

    /// Notes that a response demands a credential from a task of the lane. The caller calls `commitChallenge` later.
    public mutating func noteChallenge(_ authChallenge: AuthenticationChallenge, in lane: String) {
        // A challenge that demands a new URL for one task concerns no other task.
        guard authChallenge.space.task == nil else { return }
        var space = spaces[authChallenge.space] ?? Space()
        space.pending += 1
        space.schemes = authChallenge.schemes
        space.lanes.insert(lane)
        if authChallenge.space.kind == .server { space.lanes.insert(authChallenge.space.origin) }
        // The scope of the challenge is a directory of URLs. A directory belongs only to the realm of its last
        // challenge. So the directory is removed from the server's other realms.
        for other in spaces.keys where other != authChallenge.space && other.server == authChallenge.space.server {
            spaces[other]?.scopes.removeAll { $0 == authChallenge.scope }
        }
        if !space.scopes.contains(authChallenge.scope) {
            if space.scopes.count >= Self.scopeLimit { space.scopes.removeFirst() }
            space.scopes.append(authChallenge.scope)
        }
        spaces[authChallenge.space] = space
    }

    /// Completes a call of `noteChallenge`. Each call of `noteChallenge` needs one call of this function. `challenge`:
    /// the challenge for which the task waits, as the store has recorded; nil if the task does not wait.
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

    /// Stores the host's response to a challenge. `expires`: the time after which the credential is not sent any more,
    /// in Unix milliseconds; nil if this time is not known. `newest`: for new headers, the newest task that has them.
    public mutating func storeResponse(
        _ challenge: Challenge, _ response: ChallengeResponse, expires: Int64? = nil, newest: TaskID? = nil
    ) {
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
        state.current = CurrentCredential(
            credential: credential, challenge: challenge.id, expires: expires, newest: newest)
        state.isRefused = false
        state.disputed = []
        if challenge.space.kind != .proxy { state.lanes.insert(challenge.space.origin) }
        spaces[challenge.space] = state
        dropOldest(of: challenge.space.server)
    }

    /// Drops the oldest credential of the server or proxy if it has more than `credentialLimit`.
    private mutating func dropOldest(of server: ProtectionSpace.Server) {
        let known = spaces.compactMap { space, state in
            space.server == server ? state.current.map { (space, $0.challenge) } : nil
        }
        guard known.count > Self.credentialLimit, let oldest = known.min(by: { $0.1 < $1.1 })?.0 else { return }
        spaces[oldest]?.current = nil
        if spaces[oldest]?.isIdle == true { spaces[oldest] = nil }
    }

    /// Adopts a credential that an earlier engine has stored, and assumes that it still works.
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

    /// Forgets the credentials that have expired; the host must give new ones. Returns whether a credential had
    /// expired. `now`: Unix milliseconds.
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

    /// Forgets an open challenge for which no task waits any more.
    public mutating func closed(_ challenge: ChallengeID) {
        for (space, state) in spaces where state.open == challenge {
            var state = state
            state.open = nil
            spaces[space] = state.isIdle ? nil : state
        }
    }

    /// Forgets the failures of a task's URL, because a server has accepted the URL or the task has ended.
    public mutating func acceptedURL(of task: TaskID) { urlFailures[task] = nil }

    /// Notes that the lane has sent a request with these credentials, and that the response demands no further
    /// credential. Returns true if a credential has worked for the first time. The lanes of this credential are then
    /// not limited to one task any more.
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

    /// What a task of the lane does after a response that demands a credential for the space. `sent`: the numbers of
    /// all credentials with which the task's requests got a 401 or 407 of this server or proxy, for any realm, since a
    /// response last demanded none.
    ///
    /// If the credentials were sent for several realms, `failures` counts them, too. The first of them does not count:
    /// it may be for another directory of the server, and the engine has sent it before it knew the realm.
    ///
    /// If a proxy's credential has worked, a 407 in one lane does not discard the credential. The reason: if the proxy
    /// opens no tunnel for a request, the server can pretend to be the proxy. Only the lane with the 407 waits. If the
    /// credential has really expired, the other lanes will get a 407, too.
    public mutating func decision(
        on space: ProtectionSpace, sent: Set<UInt64>, in lane: String, of task: TaskID? = nil
    ) -> Decision {
        guard sent.count < Self.rejectionLimit else { return .refused }
        let decision = decisionOnRealm(space, sent, lane, task)
        guard case .openChallenge(let failures, let replacing) = decision else { return decision }
        return .openChallenge(failures: max(failures, UInt32(max(0, sent.count - 1))), replacing: replacing)
    }

    private mutating func decisionOnRealm(
        _ space: ProtectionSpace, _ sent: Set<UInt64>, _ lane: String, _ task: TaskID?
    ) -> Decision {
        if let task = space.task { return .openChallenge(failures: urlFailures[task] ?? 0, replacing: nil) }
        guard var state = spaces[space] else { return .openChallenge(failures: 0, replacing: nil) }
        if state.isRefused { return .refused }
        if let current = state.current {
            let isSent = sent.contains(current.credential.number)
            // The headers of a later task are newer than the response. If they have expired, the response has, too.
            guard isSent || !current.applies(to: task) else { return .resend }
            // If new headers have worked before, the server rejects them now because they have expired. This does not
            // count as a failure.
            if isSent, !current.isCounted, !(space.kind == .refresh && current.isProven) {
                state.failures &+= 1
            }
            if space.kind == .proxy, current.isProven || state.contrary.contains(lane) {
                state.current?.isCounted = true
                state.disputed.insert(lane)
                spaces[space] = state
                return .openChallenge(failures: state.failures, replacing: nil)
            }
            state.current = nil
            state.disputed = []
            state.replaced = current.challenge
            spaces[space] = state
        }
        return .openChallenge(failures: state.failures, replacing: state.replaced)
    }
}

extension SessionCredentials: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["spaces": spaces.count]) }
}
