import BackhaulModel
import Testing

/// A *manual retry* is a command to run waiting tasks now.
@Suite("Portals and dead uplinks")
struct UplinkTests {
    private static func origin(_ name: String, _ scheme: String = "https") -> Origin {
        Origin(scheme: scheme, server: "\(name).example", port: 443)
    }
    private let a = origin("a")
    private let b = origin("b")
    private let c = origin("c")
    private let login = origin("login")

    /// Returns a watch of the uplink after one attempt to each of three origins. The attempts are one second apart, and
    /// each attempt has ended with `ending`.
    private func dead(_ ending: UplinkWatch.Ending = .unreachable) -> UplinkWatch {
        var watch = UplinkWatch()
        for (second, origin) in [a, b, c].enumerated() {
            _ = watch.take(origin, ending, originsInUse: 5, now: Int64(second) * 1_000)
        }
        return watch
    }

    @Test("if three origins fail in a row, the uplink counts as dead, and the hold's sentence says so")
    func limited() {
        let watch = dead()
        #expect(watch.state == .limited)
        #expect(
            watch.hold(now: 2_000, unix: 50_000)
                == Hold(
                    .portal,
                    "3 servers in a row could not be reached, so the uplink seems dead; one task "
                        + "retries after a pause", nextCheckMilliseconds: 60_000))
    }

    @Test("if the only two origins in use fail, the uplink counts as dead, but one failed origin is never enough")
    func fewOrigins() {
        var watch = UplinkWatch()
        #expect(watch.take(a, .unreachable, originsInUse: 1, now: 0) == false)
        #expect(watch.take(a, .unreachable, originsInUse: 1, now: 1) == false)
        #expect(watch.take(b, .unreachable, originsInUse: 3, now: 2) == false)
        #expect(watch.take(b, .unreachable, originsInUse: 2, now: 3) == true)
        #expect(watch.state == .limited)
    }

    @Test("a response or transferred bytes reset the count of failed origins")
    func responded() {
        var watch = UplinkWatch()
        for origin in [a, b] { _ = watch.take(origin, .unreachable, originsInUse: 5, now: 0) }
        #expect(watch.take(Self.origin("d"), .responded, originsInUse: 5, now: 1) == true)
        #expect(watch.isProven)
        for origin in [a, b] { _ = watch.take(origin, .unreachable, originsInUse: 5, now: 2) }
        #expect(watch.moved(now: 3) == false)
        #expect(watch.take(c, .unreachable, originsInUse: 5, now: 4) == false)
        #expect(watch.state == .open)
    }

    @Test("a refused connection does not count against the uplink")
    func refused() {
        let ending = UplinkWatch.Ending(Failure(.connectionFailed, "refused"), wasRefused: true)
        #expect(ending == .unknown)
        #expect(dead(ending).state == .open)
    }

    @Test("a failure before any machine was contacted does not count against the uplink")
    func local() {
        for status in [Status.connectionFailed, .nameNotResolved] {
            let ending = UplinkWatch.Ending(Failure(status, "no proxy"), isLocal: true)
            #expect(ending == .unknown)
            #expect(dead(ending).state == .open)
        }
    }

    @Test("the target of a redirect that cannot be reached does not count against the uplink")
    func redirectedNowhere() {
        for status in [Status.connectionFailed, .nameNotResolved, .connectionLost, .requestTimeout] {
            let ending = UplinkWatch.Ending(Failure(status, "silent"), hasLeftOrigin: true)
            #expect(ending == .unknown)
            #expect(dead(ending).state == .open)
        }
    }

    @Test("the first uplink probe goes to an origin that has not failed")
    func likeliest() {
        var watch = dead()
        #expect(watch.probe(among: [a, b, c, Self.origin("z")], now: 12_000) == Self.origin("z"))
        #expect(watch.probe(among: [a, b, c, Self.origin("z")], now: 40_000) == a)
    }

    @Test("if another origin has responded in the last two minutes, a single 511 response is ignored")
    func lively() {
        var watch = UplinkWatch()
        _ = watch.take(b, .responded, originsInUse: 5, now: 0)
        #expect(watch.take(a, .portal, originsInUse: 5, now: 60_000) == false)
        #expect(watch.state == .open)
        #expect(watch.take(a, .portal, originsInUse: 5, now: 130_000) == true)
        #expect(watch.state == .portal)
    }

    @Test("failures that are older than two minutes do not count against the uplink")
    func old() {
        var watch = UplinkWatch()
        for (minute, origin) in [a, b, c].enumerated() {
            _ = watch.take(origin, .unreachable, originsInUse: 5, now: Int64(minute) * 61_000)
        }
        #expect(watch.state == .open)
    }

    @Test("if three origins redirect to the same origin, or have untrusted certificates, there is a portal")
    func portal() {
        #expect(dead(.redirected(to: login)).state == .portal)
        #expect(dead(.untrusted).state == .portal)
    }

    @Test("redirects from several origins to different origins count as responses")
    func redirects() {
        var watch = UplinkWatch()
        for origin in [a, b, c] {
            let target = Self.origin("cdn." + origin.server)
            _ = watch.take(origin, .redirected(to: target), originsInUse: 3, now: 0)
        }
        #expect(watch.state == .open)
        #expect(watch.isProven)
        watch.networkChanged()
        for (origin, ending) in [(a, .redirected(to: login)), (b, .unreachable), (c, .unreachable)]
            as [(Origin, UplinkWatch.Ending)]
        { _ = watch.take(origin, ending, originsInUse: 5, now: 0) }
        #expect(watch.state == .open)
    }

    @Test("a 511 response of origin A means a portal; after a response of B, a 511 of A is ignored for ten minutes")
    func networkAuthenticationRequired() {
        var watch = UplinkWatch()
        #expect(watch.take(a, .portal, originsInUse: 5, now: 0) == true)
        #expect(watch.state == .portal)
        #expect(watch.take(b, .responded, originsInUse: 5, now: 1_000) == true)
        #expect(watch.state == .open)
        #expect(watch.take(a, .portal, originsInUse: 5, now: 2_000) == false)
        #expect(watch.state == .open)
        #expect(watch.take(a, .portal, originsInUse: 5, now: 600_000) == false)
        #expect(watch.take(a, .portal, originsInUse: 5, now: 700_000) == true)
    }

    @Test("the pauses between uplink probes grow from ten seconds to five minutes, and the origins rotate")
    func probes() {
        var watch = dead()
        var now: Int64 = 2_000
        var pauses: [Int64] = []
        var tried: [Origin] = []
        for _ in 0..<8 {
            guard let next = watch.nextProbe(now: now) else { break }
            #expect(watch.probe(among: [a, b, c], now: next - 1) == nil)
            pauses.append((next - now) / 1_000)
            now = next
            if let origin = watch.probe(among: [a, b, c], now: now) {
                tried.append(origin)
                _ = watch.take(origin, .unreachable, originsInUse: 5, now: now)
            }
        }
        #expect(pauses == [10, 20, 40, 80, 160, 300, 300, 300])
        #expect(tried == [a, b, c, a, b, c, a, b])
    }

    @Test("if no task starts for an uplink probe, another origin is probed a second later, and the pause does not grow")
    func givenBack() {
        var watch = dead()
        #expect(watch.probe(among: [a, b], now: 12_000) == a)
        watch.cancelProbe(now: 12_000)
        #expect(watch.nextProbe(now: 12_000) == 13_000)
        #expect(watch.probe(among: [a, b], now: 13_000) == b)
        #expect(watch.nextProbe(now: 13_000) == 33_000)
    }

    @Test("a manual retry starts an uplink probe at once, and does not reset the pause")
    func atOnce() {
        var watch = dead()
        watch.probeNow(now: 3_000)
        #expect(watch.nextProbe(now: 3_000) == nil)
        #expect(watch.probe(among: [a], now: 3_000) == a)
        #expect(watch.nextProbe(now: 3_000) == 23_000)
    }

    @Test("one response, or a change to another network, releases all tasks that wait for the uplink")
    func opens() {
        var watch = dead()
        #expect(watch.take(b, .responded, originsInUse: 5, now: 5_000) == true)
        #expect(watch.hold(now: 5_000, unix: 0) == nil)
        watch = dead()
        watch.networkChanged()
        #expect(!watch.isHeld)
    }

    @Test("if the system reports a portal, the uplink probe goes only to an https origin")
    func system() {
        var watch = UplinkWatch()
        _ = watch.connectivity(.portal, now: 0)
        #expect(watch.isHeld && watch.state == .open)
        let plain = Self.origin("plain", "http")
        #expect(watch.probe(among: [plain], now: 10_000) == nil)
        #expect(watch.probe(among: [plain, a], now: 10_000) == a)
        #expect(watch.take(a, .responded, originsInUse: 2, now: 11_000) == true)
        #expect(!watch.isHeld && watch.isProven)
        #expect(watch.connectivity(.portal, now: 12_000) == false)
        #expect(watch.connectivity(.limited, now: 13_000) == true)
        #expect(!watch.isProven)
    }

    @Test("the result of an attempt is classified by what it proves about the uplink")
    func endings() {
        func ending(_ status: Status, http: Int64? = nil, to target: Origin? = nil, hasResponse: Bool = false)
            -> UplinkWatch.Ending
        {
            let failure = Failure(status, "", domain: http == nil ? .none : .http, detail: http ?? 0)
            return UplinkWatch.Ending(failure, redirectedTo: target, hasResponse: hasResponse)
        }
        #expect(UplinkWatch.Ending(nil) == .responded)
        #expect(ending(.httpStatus, http: 511) == .portal)
        #expect(ending(.httpStatus, http: 404) == .responded)
        #expect(ending(.httpStatus, http: 404, to: login) == .redirected(to: login))
        #expect(ending(.unexpectedType, to: login) == .redirected(to: login))
        #expect(ending(.tlsFailed) == .untrusted)
        #expect(ending(.connectionFailed) == .unreachable)
        #expect(ending(.connectionLost, hasResponse: true) == .unknown)
        #expect(ending(.requestTimeout, hasResponse: true) == .unreachable)
        #expect(ending(.diskFull) == .unknown)
        #expect(ending(.cancelled) == .unknown)
    }

    @Test(
        "a server that needs no uplink is recognized by its name or address",
        arguments: [
            ("localhost", true), ("127.0.0.1", true), ("10.1.2.3", true), ("172.31.0.1", true), ("172.32.0.1", false),
            ("192.168.1.5", true), ("192.169.1.5", false), ("169.254.1.1", true), ("nas.local", true),
            ("[fd00::1]", true),
            ("[fe80::1]", true), ("[2001:db8::1]", false), ("[::1]", true), ("[::ffff:1]", false), ("10.1.2", false),
            ("10.1.2.300", false), ("10.1.2.+3", false), ("[+fd0::1]", false), ("example.org", false), ("", false),
            ("[", false),
        ])
    func needsNoUplink(server: String, expected: Bool) { #expect(Connectivity.needsNoUplink(server) == expected) }
}
