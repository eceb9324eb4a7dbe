/// Decides which credential may be sent, and which tasks must wait for a challenge. A challenge demands a credential
/// from the host, which is the program that uses the library. A credential is valid in a protection space, which is a
/// realm of a server or proxy.
extension SessionCredentials {
    /// The credential that a request for this URL may carry to this server, before a response to this request has
    /// demanded a credential. If only one realm of the server is known, the credential of this realm is returned. If
    /// several realms are known, the scopes of the realms are compared with the URL. A scope is a directory of URLs.
    /// Of the scopes that contain the URL, the longest one determines the realm. Until the credential has worked, it is
    /// sent only to URLs in a scope: a server that ignores the credential elsewhere has not accepted it.
    public func credential(server origin: String, url: String) -> Credential? {
        guard let space = space(of: origin, for: url), let current = space.current else { return nil }
        return current.isProven || space.scopes.isEmpty || space.depth(of: URLPath.of(url)) != nil
            ? current.credential : nil
    }

    /// The credential that a request may carry to this proxy. If several realms of the proxy are known, the credential
    /// of the newest challenge is returned.
    public func credential(proxy origin: String) -> Credential? {
        let known = spaces.filter { $0.key.kind == .proxy && $0.key.origin == origin }
        return known.values.compactMap(\.current).max { $0.challenge < $1.challenge }?.credential
    }

    /// Whether a proxy has demanded a credential from a task of this session.
    public var knowsProxies: Bool { spaces.keys.contains { $0.kind == .proxy } }

    /// Whether only one task of the lane may run at a time, because a credential of the lane is missing or has not
    /// worked yet.
    public func runsOneTask(_ lane: String) -> Bool {
        spaces.contains { $0.value.runsOneTask(lane, isRefresh: $0.key.kind == .refresh) }
    }

    /// Whether the host's response to this challenge was to continue without a credential for the space.
    public func proceeds(without space: ProtectionSpace, after challenge: ChallengeID?) -> Bool {
        challenge.map { declined[$0] == space } ?? false
    }

    /// The challenge for which a task must wait before its first request; nil if the task need not wait. The task waits
    /// if a challenge is open for the URL's directory, or for the proxy on the task's route. The task also waits if the
    /// credential that it would send has expired. `last`: the challenge for which the task waited before.
    public func wait(for url: String, in lane: String, last: ChallengeID? = nil) -> PendingChallenge? {
        guard !spaces.isEmpty else { return nil }
        let proxies = spaces.filter {
            $0.key.kind == .proxy && $0.value.lanes.contains(lane) && !proceeds(without: $0.key, after: last)
        }
        if let open = proxies.first(where: { $0.value.waits(lane) })?.value.open { return .open(open) }
        if let old = proxies.first(where: { $0.value.expired != nil }) {
            return Self.openChallenge(old.key, old.value, "/")
        }
        let known = spaces.filter { $0.key.kind == .server && $0.key.origin == lane }
        if let (space, state) = nearest(known, to: url), !proceeds(without: space, after: last), let open = state.open {
            return .open(open)
        }
        guard let (space, state) = known.count == 1 ? known.first.map({ ($0.key, $0.value) }) : nearest(known, to: url),
            state.expired != nil, !proceeds(without: space, after: last)
        else { return nil }
        return Self.openChallenge(space, state, URLPath.directory(of: url))
    }

    /// The challenge for which a task must wait because its headers or its URL must be replaced (a refresh); nil if the
    /// task need not wait. `isDue`: whether the headers or the URL have expired.
    public func wait(forRefresh space: ProtectionSpace, isDue: Bool) -> PendingChallenge? {
        if let open = spaces[space]?.open { return .open(open) }
        guard isDue else { return nil }
        return .openChallenge(AuthenticationChallenge(refreshing: space), replacing: spaces[space]?.expired)
    }

    public func mayOpen(_ space: ProtectionSpace) -> Bool {
        space.task != nil || spaces[space]?.open != nil
            || spaces.count { $0.key.server == space.server && $0.value.open != nil } < Self.challengeLimit
    }

    private static func openChallenge(_ space: ProtectionSpace, _ state: Space, _ scope: String) -> PendingChallenge {
        .openChallenge(
            AuthenticationChallenge(space: space, schemes: state.schemes, scope: scope), replacing: state.expired)
    }

    private func space(of origin: String, for url: String) -> Space? {
        guard !spaces.isEmpty else { return nil }
        let known = spaces.filter { $0.key.kind == .server && $0.key.origin == origin }
        return known.count == 1 ? known.first?.value : nearest(known, to: url)?.1
    }

    private func nearest(_ known: [ProtectionSpace: Space], to url: String) -> (ProtectionSpace, Space)? {
        let path = URLPath.of(url)
        let depths = known.compactMap { entry in entry.value.depth(of: path).map { (entry, $0) } }
        return depths.max { $0.1 < $1.1 }.map { ($0.0.key, $0.0.value) }
    }
}

extension SessionCredentials.Space {
    /// The length of the longest scope that contains the path of a URL; nil if no scope contains it.
    fileprivate func depth(of path: Substring.UTF8View) -> Int? {
        scopes.filter { path.starts(with: $0.utf8) }.map(\.utf8.count).max()
    }
}
