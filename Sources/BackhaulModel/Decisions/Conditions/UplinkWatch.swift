/// Recognises a portal or a dead uplink by failures that all origins share, and tries with one task at a time whether
/// it is over.
///
/// Fed with the end of each attempt at an origin beyond the uplink (`Connectivity.needsNoUplink` says which are not),
/// and with answers as they begin. When 3 different origins (or the only 2 that are in use) have failed in a row within
/// two minutes and none has answered meanwhile, all are held. One origin alone is never judged, but by an answer with
/// the status 511, which no origin gives (RFC 6585, section 6), where no other has answered for as long. One proper
/// answer or another network lets all go at once.
///
/// All times are those of the clock that starts with the boot, in milliseconds.
public struct UplinkWatch: Sendable {
    /// What an attempt says of the way.
    public enum Ending: Equatable, Sendable {
        /// Some proper answer: the way is good.
        case answered
        /// 511 Network Authentication Required.
        case portal
        /// Failed after the origin had sent it to another one, which may be the portal's login page.
        case redirected(to: Origin)
        /// The TLS connection could not be made: the certificate may be the portal's.
        case untrusted
        /// No name, no connection, no byte in time.
        case unreachable
        /// Something else, such as a full disk.
        case unknown

        /// `redirectedTo`: the origin at the end of the redirects, when it is another. `hasAnswered`: with a status,
        /// any. `wasRefused`: the connection was, by a machine that is there, be it the origin or one on the way.
        public init(
            _ failure: Failure?, redirectedTo target: Origin? = nil, hasAnswered: Bool = false, wasRefused: Bool = false
        ) {
            guard let failure else {
                self = .answered
                return
            }
            switch failure.status {
            case .httpStatus where failure.domain == .http && failure.detail == 511: self = .portal
            case .tlsFailed: self = .untrusted
            // However much came before: nothing does any more.
            case .requestTimeout: self = .unreachable
            case .nameNotResolved, .connectionFailed, .connectionLost:
                self = hasAnswered || wasRefused ? .unknown : .unreachable
            case .httpStatus, .redirectRefused, .checksumMismatch, .sizeMismatch, .tooLarge:
                self = target.map(Ending.redirected) ?? .answered
            case .authenticationRequired: self = .answered
            default: self = .unknown
            }
        }
    }

    public enum State: Equatable, Sendable {
        case open
        /// Something answers that is not the origin.
        case portal
        /// Nothing answers.
        case limited
    }

    private struct Sign: Sendable {
        var ending: Ending
        var at: Int64
    }

    static let originsNeeded = 3
    static let memory: Int64 = 120_000
    static let firstPause: Int64 = 10_000
    static let longestPause: Int64 = 300_000
    static let vainProbePause: Int64 = 1_000
    /// How long a 511 is not believed of an origin that gave one while others answered.
    static let disbelief: Int64 = 600_000

    public private(set) var state = State.open
    /// Some origin has answered on this network, and it was not judged since.
    public private(set) var isProven = false
    private var signs: [Origin: Sign] = [:]
    private var disproved: [Origin: Int64] = [:]
    /// Why it is held.
    private var origins = 0
    private var lastAnswer: Int64?
    private var looks = 0
    private var probeAt: Int64 = 0
    private var probedAt: [Origin: Int64] = [:]
    private var system: ConnectivityState?

    public init() {}

    /// The end of an attempt, or an answer that has begun. `originsInUse`: origins beyond the uplink that have tasks.
    /// True: `state` or `isProven` is another, and all origins are to be asked again.
    public mutating func take(_ origin: Origin, _ ending: Ending, originsInUse: Int, now: Int64) -> Bool {
        let former = (state, isProven)
        switch ending {
        case .unknown: return false
        case .answered: answered(now: now)
        case .redirected(let target) where leadsElsewhere(target, than: origin): answered(now: now)
        case .portal where disproved[origin].map({ now - $0 < Self.disbelief }) ?? false: return false
        case .portal, .redirected, .untrusted, .unreachable:
            signs[origin] = Sign(ending: ending, at: now)
            judge(originsInUse: originsInUse, now: now)
        }
        return former != (state, isProven)
    }

    /// A transfer from beyond the uplink is receiving: the same as an answer.
    public mutating func moved(now: Int64) -> Bool {
        if state == .open, isProven, signs.isEmpty { return false }
        let former = (state, isProven)
        answered(now: now)
        return former != (state, isProven)
    }

    /// What the system says of the network, as it changes: `Conditions.connectivity`. Its word holds until an origin
    /// answers; `DeferralDecision.holds` sees to that.
    public mutating func connectivity(_ state: ConnectivityState?, now: Int64) -> Bool {
        guard state != system else { return false }
        system = state
        let former = (self.state, isProven)
        if state == .full { open() }
        if state == .portal || state == .limited {
            isProven = false
            startProbes(now: now)
        }
        return former != (self.state, isProven)
    }

    /// Another network, or another way to it: what was seen is void, and what the system says of it is tried at once.
    /// True: `state` or `isProven` was another.
    public mutating func networkChanged() -> Bool {
        let changes = state != .open || isProven
        let system = system
        self = Self()
        self.system = system
        return changes
    }

    /// Origins whose last attempts failed.
    public var failedOrigins: Set<Origin> { Set(signs.keys) }

    /// All origins beyond the uplink are held, and may be tried.
    public var isHeld: Bool { state != .open || !isProven && (system == .portal || system == .limited) }

    /// The origin of which one task may be tried now, the one that was tried longest ago; nil: none for now. It counts
    /// as tried: the next may go after the pause, 10 s and then twice as long each time, up to 5 min. `origins`: those
    /// that are held and have a task that may start but for this.
    public mutating func probe(among origins: [Origin], now: Int64) -> Origin? {
        guard isHeld, now >= probeAt else { return nil }
        // The portal that the system has seen would answer in place of an origin without TLS, and its page be the file.
        let candidates = system == .portal ? origins.filter { $0.scheme == "https" } : origins
        probedAt = probedAt.filter { candidates.contains($0.key) }
        // One that has not failed yet is the likeliest to answer.
        let oldest = candidates.min { one, other in
            (probedAt[one] ?? .min, signs[one] == nil ? 0 : 1, one.text)
                < (probedAt[other] ?? .min, signs[other] == nil ? 0 : 1, other.text)
        }
        guard let oldest else { return nil }
        probedAt[oldest] = now
        probeAt = now + pause
        looks = min(looks + 1, 8)
        return oldest
    }

    /// Somebody knows better: the next task may be tried now.
    public mutating func tryAtOnce(now: Int64) {
        guard isHeld else { return }
        probeAt = min(probeAt, now)
    }

    /// No task of that origin was found that may start. Nothing was tried: another may be, after a moment.
    public mutating func giveBackProbe(now: Int64) {
        guard isHeld else { return }
        looks = max(0, looks - 1)
        probeAt = now + Self.vainProbePause
    }

    /// When the next task may be tried, nil: none is held, or now.
    public func nextProbe(now: Int64) -> Int64? { isHeld && probeAt > now ? probeAt : nil }

    /// Why an origin is held by what others have met; nil: it is not. `unix`: the Unix time in milliseconds that
    /// belongs to `now`. What the system says is a hold of `DeferralDecision`.
    public func hold(now: Int64, unix: Int64) -> Hold? {
        let servers = origins == 1 ? "a server" : "\(origins) servers in a row"
        let sentence: String
        switch state {
        case .open: return nil
        case .portal:
            sentence =
                "\(origins == 1 ? "an answer" : "the answers of \(servers)") came from a portal that asks for a login: "
                + "open any page in a browser and log in; one task tries again after a pause"
        case .limited:
            sentence =
                "\(servers) could not be reached, so the network's way out seems dead; one task tries again after a "
                + "pause"
        }
        let next = nextProbe(now: now).map { unix.saturatingAdd($0 - now) }
        return Hold(.portal, sentence, nextLookMilliseconds: next)
    }

    private var pause: Int64 { min(Self.firstPause << Int64(looks), Self.longestPause) }

    private mutating func answered(now: Int64) {
        disproved = disproved.filter { now - $0.value < Self.disbelief }
        for (origin, sign) in signs where sign.ending == .portal { disproved[origin] = now }
        isProven = true
        lastAnswer = now
        open()
    }

    private mutating func open() {
        state = .open
        signs = [:]
        looks = 0
        probedAt = [:]
    }

    /// Portals send all to one place; what sends origins to different ones is the origins themselves.
    private func leadsElsewhere(_ target: Origin, than origin: Origin) -> Bool {
        signs.contains { other, sign in
            if case .redirected(let former) = sign.ending, other != origin { former != target } else { false }
        }
    }

    private mutating func judge(originsInUse: Int, now: Int64) {
        if state == .open { signs = signs.filter { now - $0.value.at <= Self.memory } }
        let redirects = signs.values.filter { if case .redirected = $0.ending { true } else { false } }.count
        // One that sends elsewhere and fails there says nothing; several that send to the same place do.
        let failed = redirects == 1 ? signs.count - 1 : signs.count
        let isEnough = failed >= Self.originsNeeded || failed == 2 && originsInUse <= 2
        let hasPortal = signs.values.contains { $0.ending == .portal }
        // A single server can say 511 to whomever it likes; where others have answered just now it has to be several.
        let isLively = lastAnswer.map { now - $0 <= Self.memory } ?? false
        guard isEnough || hasPortal && !isLively else { return }
        let isPortal = hasPortal || redirects >= 2 || signs.values.contains { $0.ending == .untrusted }
        let wasOpen = state == .open
        state = isPortal ? .portal : .limited
        origins = isEnough ? failed : 1
        isProven = false
        if signs.count > Self.originsNeeded * 4, let oldest = signs.min(by: { $0.value.at < $1.value.at })?.key {
            signs[oldest] = nil
        }
        if wasOpen { startProbes(now: now) }
    }

    private mutating func startProbes(now: Int64) {
        looks = 0
        probeAt = now + pause
        looks = 1
    }
}

extension Connectivity {
    /// Whether a server is reached without the way to other networks, as far as its name tells: this machine, private
    /// and link-local addresses (RFC 1918, 3927, 4193, 4291), and names of the local link (RFC 6762).
    public static func needsNoUplink(_ server: String) -> Bool {
        if isLoopback(server) || server.hasSuffix(".local") { return true }
        if server.hasPrefix("[") {
            let group = server.dropFirst().prefix { $0 != ":" }
            guard group.utf8.count == 4, let bits = UInt16(group, radix: 16) else { return false }
            return bits & 0xFE00 == 0xFC00 || bits & 0xFFC0 == 0xFE80
        }
        let parts = server.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4, let first = parts[0], let second = parts[1], !parts.contains(nil) else { return false }
        switch first {
        case 10: return true
        case 172: return second & 0xF0 == 16
        case 192: return second == 168
        case 169: return second == 254
        default: return false
        }
    }
}
