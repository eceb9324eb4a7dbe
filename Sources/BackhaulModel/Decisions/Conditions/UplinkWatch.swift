/// Recognises a portal or a dead uplink by failures that all origins share. The uplink is the route to the internet. A
/// portal responds in place of other servers until the user logs in. After a portal or a dead uplink was recognised,
/// one task at a time is the *uplink probe*: it tests whether the uplink works again.
///
/// The watch concerns origins beyond the uplink (`Connectivity.needsNoUplink` is false). It is notified when a response
/// from such an origin begins, and when an attempt at such an origin ends. All these origins are held (their tasks
/// wait) if 3 different origins have failed within two minutes, and no origin has responded in this time. If only 2
/// origins are in use, the failures of these 2 are enough. The failure of a single origin is not enough. The exception
/// is a response with status 511, which is meant for portals (RFC 6585, section 6). This response is enough if no
/// origin has responded for two minutes. One proper response, or a change of the network, releases all origins at once.
///
/// All times are milliseconds since boot.
public struct UplinkWatch: Sendable {
    /// What the end of an attempt shows about the uplink.
    public enum Ending: Equatable, Sendable {
        /// A proper response: the uplink works.
        case responded
        /// Status 511 Network Authentication Required.
        case portal
        /// A failure after a redirect to another origin. That origin may be the portal.
        case redirected(to: Origin)
        /// A failure to open the TLS connection: the certificate may belong to a portal.
        case untrusted
        /// No address, no connection, or no byte in time.
        case unreachable
        /// Another failure, such as a full disk.
        case unknown

        /// Classifies the end of an attempt. `redirectedTo`: the origin at the end of the redirects, if it differs from
        /// the origin of the task. `hasResponse`: whether a response with any status came. `wasRefused`: whether the
        /// origin, or another machine on the route, refused the connection. `hasLeftOrigin`: whether the failed request
        /// had followed a redirect to another origin. `isLocal`: whether no machine was contacted.
        public init(
            _ failure: Failure?, redirectedTo target: Origin? = nil, hasResponse: Bool = false,
            wasRefused: Bool = false, hasLeftOrigin: Bool = false, isLocal: Bool = false
        ) {
            guard let failure else {
                self = .responded
                return
            }
            switch failure.status {
            case .httpStatus where failure.domain == .http && failure.detail == 511: self = .portal
            case .tlsFailed: self = .untrusted
            // A time-out counts even if a response had begun, because no further byte came before the time-out.
            case .requestTimeout: self = hasLeftOrigin ? .unknown : .unreachable
            case .nameNotResolved, .connectionFailed, .connectionLost:
                self = hasResponse || wasRefused || hasLeftOrigin || isLocal ? .unknown : .unreachable
            case .httpStatus, .redirectRefused, .checksumMismatch, .sizeMismatch, .tooLarge:
                self = target.map(Ending.redirected) ?? .responded
            case .authenticationRequired: self = .responded
            case .unexpectedType: self = target.map(Ending.redirected) ?? .unknown
            default: self = .unknown
            }
        }
    }

    public enum State: Equatable, Sendable {
        case open
        /// Another machine responds in place of the origins.
        case portal
        /// No machine responds.
        case limited
    }

    private struct Symptom: Sendable {
        var ending: Ending
        var at: Int64
    }

    static let originThreshold = 3
    static let memory: Int64 = 120_000
    static let firstPause: Int64 = 10_000
    static let maximumPause: Int64 = 300_000
    static let emptyProbeDelay: Int64 = 1_000
    /// If a proper response from any origin comes after the status 511 of an origin, there is no portal. From this
    /// response on, the status 511 of that origin is ignored for this many milliseconds.
    static let portalDisbeliefMilliseconds: Int64 = 600_000

    public private(set) var state = State.open
    /// Whether an origin has responded on this network since the last sign of a portal or a dead uplink.
    public private(set) var isProven = false
    private var symptoms: [Origin: Symptom] = [:]
    private var disproved: [Origin: Int64] = [:]
    /// The number of origins whose failures caused the hold.
    private var origins = 0
    private var lastResponseAt: Int64?
    private var probeCount = 0
    private var probeAt: Int64 = 0
    private var probedAt: [Origin: Int64] = [:]
    private var system: ConnectivityState?

    public init() {}

    /// Notes the end of an attempt, or a response that has begun. `originsInUse`: the number of origins beyond the
    /// uplink that have tasks. Returns true if `state` or `isProven` changes. Then the caller checks all origins again.
    public mutating func take(_ origin: Origin, _ ending: Ending, originsInUse: Int, now: Int64) -> Bool {
        let former = (state, isProven)
        switch ending {
        case .unknown: return false
        case .responded: responded(now: now)
        case .redirected(let target) where leadsElsewhere(target, than: origin): responded(now: now)
        case .portal where disproved[origin].map({ now - $0 < Self.portalDisbeliefMilliseconds }) ?? false: return false
        case .portal, .redirected, .untrusted, .unreachable:
            symptoms[origin] = Symptom(ending: ending, at: now)
            judge(originsInUse: originsInUse, now: now)
        }
        return former != (state, isProven)
    }

    /// Notes that a transfer from beyond the uplink receives bytes. These bytes count like a response.
    public mutating func moved(now: Int64) -> Bool {
        if state == .open, isProven, symptoms.isEmpty { return false }
        let former = (state, isProven)
        responded(now: now)
        return former != (state, isProven)
    }

    /// Notes what the system reports about the network (`Conditions.connectivity`). `DeferralDecision.holds` ensures
    /// that the report counts only until an origin responds.
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

    /// Forgets all observed failures and responses, because the network or the route has changed. If the system reports
    /// a portal or a dead uplink, an uplink probe may test this report at once.
    public mutating func networkChanged() {
        let system = system
        self = Self()
        self.system = system
    }

    /// The origins whose last attempts failed.
    public var failedOrigins: Set<Origin> { Set(symptoms.keys) }

    /// Whether all origins beyond the uplink are held. While they are held, one origin at a time may be tested.
    public var isHeld: Bool { state != .open || !isProven && (system == .portal || system == .limited) }

    /// Chooses the origin that may start a task as the uplink probe now. This is the origin whose last probe is the
    /// oldest. Returns nil if no origin may start a probe now. There is a pause before each probe. `networkChanged`
    /// and `probeNow` end this pause. The first pause lasts 10 s. Each further pause lasts twice as long as the pause
    /// before it, up to 5 min. `origins`: the origins with a task that could start now if its origin were not held.
    public mutating func probe(among origins: [Origin], now: Int64) -> Origin? {
        guard isHeld, now >= probeAt else { return nil }
        // If the system reports a portal, only an origin with TLS is tested. The portal could respond in place of an
        // origin without TLS, and the portal's page would become the file.
        let candidates = system == .portal ? origins.filter { $0.scheme == "https" } : origins
        probedAt = probedAt.filter { candidates.contains($0.key) }
        // An origin that has not failed yet is the most likely to respond.
        let oldest = candidates.min { one, other in
            (probedAt[one] ?? .min, symptoms[one] == nil ? 0 : 1, one.text)
                < (probedAt[other] ?? .min, symptoms[other] == nil ? 0 : 1, other.text)
        }
        guard let oldest else { return nil }
        probedAt[oldest] = now
        probeAt = now + pause
        probeCount = min(probeCount + 1, 8)
        return oldest
    }

    /// Allows the next uplink probe now, because the caller has a reason to test again.
    public mutating func probeNow(now: Int64) {
        guard isHeld else { return }
        probeAt = min(probeAt, now)
    }

    /// Withdraws the last uplink probe, because no task of its origin may start. Another origin may be tested after
    /// `emptyProbeDelay`.
    public mutating func cancelProbe(now: Int64) {
        guard isHeld else { return }
        probeCount = max(0, probeCount - 1)
        probeAt = now + Self.emptyProbeDelay
    }

    /// When the next uplink probe may start; nil if it may start now, or if no origin is held.
    public func nextProbe(now: Int64) -> Int64? { isHeld && probeAt > now ? probeAt : nil }

    /// The hold (the reason why tasks wait) that the failures of origins have caused; nil if they have caused none.
    /// `unix`: the Unix time in milliseconds at `now`. If a report of the system causes a hold, `DeferralDecision`
    /// returns this hold.
    public func hold(now: Int64, unix: Int64) -> Hold? {
        let servers = origins == 1 ? "a server" : "\(origins) servers in a row"
        let sentence: String
        switch state {
        case .open: return nil
        case .portal:
            sentence =
                "\(origins == 1 ? "a response" : "the responses of \(servers)") came from a portal that demands a "
                + "login: open any page in a browser and log in; one task retries after a pause"
        case .limited:
            sentence =
                "\(servers) could not be reached, so the uplink seems dead; one task retries after a pause"
        }
        let next = nextProbe(now: now).map { unix.saturatingAdd($0 - now) }
        return Hold(.portal, sentence, nextCheckMilliseconds: next)
    }

    private var pause: Int64 { min(Self.firstPause << Int64(probeCount), Self.maximumPause) }

    private mutating func responded(now: Int64) {
        disproved = disproved.filter { now - $0.value < Self.portalDisbeliefMilliseconds }
        for (origin, symptom) in symptoms where symptom.ending == .portal { disproved[origin] = now }
        isProven = true
        lastResponseAt = now
        open()
    }

    private mutating func open() {
        state = .open
        symptoms = [:]
        probeCount = 0
        probedAt = [:]
    }

    /// Whether an origin other than `origin` has redirected to a place other than `target`. A portal redirects all
    /// origins to one place, so redirects to different places are no sign of a portal.
    private func leadsElsewhere(_ target: Origin, than origin: Origin) -> Bool {
        symptoms.contains { other, symptom in
            if case .redirected(let former) = symptom.ending, other != origin { former != target } else { false }
        }
    }

    private mutating func judge(originsInUse: Int, now: Int64) {
        if state == .open { symptoms = symptoms.filter { now - $0.value.at <= Self.memory } }
        let redirects = symptoms.values.filter { if case .redirected = $0.ending { true } else { false } }.count
        // If several origins redirect to the same place, and then fail, this is a sign of a portal. If only one origin
        // does this, its failure does not count.
        let failed = redirects == 1 ? symptoms.count - 1 : symptoms.count
        let isEnough = failed >= Self.originThreshold || failed == 2 && originsInUse <= 2
        let hasPortal = symptoms.values.contains { $0.ending == .portal }
        // A single server can send the status 511 although there is no portal. So if an origin has responded recently,
        // several origins must fail.
        let isLively = lastResponseAt.map { now - $0 <= Self.memory } ?? false
        guard isEnough || hasPortal && !isLively else { return }
        let isPortal = hasPortal || redirects >= 2 || symptoms.values.contains { $0.ending == .untrusted }
        let wasOpen = state == .open
        state = isPortal ? .portal : .limited
        origins = isEnough ? failed : 1
        isProven = false
        if symptoms.count > Self.originThreshold * 4,
            let oldest = symptoms.min(by: { $0.value.at < $1.value.at })?.key
        {
            symptoms[oldest] = nil
        }
        if wasOpen { startProbes(now: now) }
    }

    private mutating func startProbes(now: Int64) {
        probeCount = 0
        probeAt = now + pause
        probeCount = 1
    }
}

extension Connectivity {
    /// Whether a server is reached without the uplink, judged by its name only. True for this machine, private and
    /// link-local addresses (RFC 1918, 3927, 4193, 4291), and names of the local link (RFC 6762).
    public static func needsNoUplink(_ server: String) -> Bool {
        if isLoopback(server) || server.hasSuffix(".local") { return true }
        if server.hasPrefix("[") {
            let group = server.dropFirst().prefix { $0 != ":" }
            guard group.utf8.count == 4, group.first != "+", let bits = UInt16(group, radix: 16) else { return false }
            return bits & 0xFE00 == 0xFC00 || bits & 0xFFC0 == 0xFE80
        }
        let parts = server.split(separator: ".", omittingEmptySubsequences: false).map { UInt8(digits: $0) }
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
