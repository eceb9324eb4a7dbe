import BackhaulModel
import Testing

@Suite("Failures that mean no route")
struct ConnectivityTests {
    private func isMissing(
        _ status: Status, _ server: String, isUnreachable: Bool = false, reachesNameServer: Bool = true
    ) -> Bool {
        Connectivity.isMissing(
            Failure(status, "it failed"), server: server,
            Connectivity.Facts(isUnreachable: isUnreachable, reachesNameServer: reachesNameServer))
    }

    @Test("A connection to an unreachable network means no route; a refused one does not")
    func connections() {
        #expect(isMissing(.connectionFailed, "example.org", isUnreachable: true))
        #expect(!isMissing(.connectionFailed, "example.org"))
    }

    @Test("An unresolved name means no route only if no name server is reachable")
    func names() {
        #expect(isMissing(.nameNotResolved, "example.org", reachesNameServer: false))
        #expect(!isMissing(.nameNotResolved, "example.org"))
    }

    @Test("Other failures do not mean a missing route", arguments: [
        Status.connectionLost, .requestTimeout, .tlsFailed, .httpStatus, .badResponse, .diskFailed,
    ])
    func others(_ status: Status) {
        #expect(!isMissing(status, "example.org", isUnreachable: true, reachesNameServer: false))
    }

    @Test("A failure of this machine's own server never means a missing route", arguments: [
        ("127.0.0.1", true), ("127.255.1.2", true), ("[::1]", true), ("localhost", true), ("a.localhost", true),
        ("127.0.0.1.example.org", false), ("127.example.org", false), ("128.0.0.1", false), ("127.0.0.256", false),
        ("127.0.0", false), ("[::2]", false), ("localhost.example.org", false), ("", false),
    ])
    func loopback(_ server: String, _ isThisMachine: Bool) {
        #expect(Connectivity.isLoopback(server) == isThisMachine)
        #expect(isMissing(.connectionFailed, server, isUnreachable: true) == !isThisMachine)
    }

    @Test("At most three name servers are read from resolv.conf(5); without any it is this machine", arguments: [
        ("nameserver 192.0.2.1\n", ["192.0.2.1"]), ("nameserver\t2001:db8::1", ["2001:db8::1"]), ("", ["127.0.0.1"]),
        ("# nameserver 192.0.2.1\nsearch example.org\n", ["127.0.0.1"]), ("nameserver\n", ["127.0.0.1"]),
        ("nameserver a\nnameserver b\r\nnameserver c\nnameserver d\n", ["a", "b", "c"]),
        ("nameserver fe80::1%eth0 comment", ["fe80::1%eth0"]),
    ])
    func resolver(_ text: String, _ servers: [String]) { #expect(Connectivity.nameServers(text) == servers) }
}

@Suite("When unreachable servers are checked again")
struct ConnectivityPacingTests {
    @Test("Without a change checks become rarer, up to one in five minutes")
    func looks() {
        var pacing = ConnectivityPacing()
        var waits: [Int64] = []
        for look in 0..<10 {
            waits.append(pacing.untilLook)
            pacing.looked(at: Int64(look))
        }
        #expect(waits == [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000])
    }

    @Test("A change is checked after 300 ms")
    func change() {
        let pacing = ConnectivityPacing()
        #expect(pacing.untilLook(afterChangeAt: 1_000_000) == 300)
    }

    @Test("A flapping link is checked at most once a minute in the end")
    func flapping() {
        var pacing = ConnectivityPacing()
        var now: Int64 = 1_000_000
        var looks: [Int64] = []
        while now < 2_000_000 {
            now += pacing.untilLook(afterChangeAt: now)
            pacing.looked(at: now)
            looks.append(now)
        }
        #expect(looks.count < 25)
        #expect(looks.suffix(2).first.map { now - $0 } == 60_000)
    }

    @Test("A quiet time or a response resets the delays")
    func quiet() {
        var pacing = ConnectivityPacing()
        for _ in 0..<20 { pacing.looked(at: 0) }
        #expect(pacing.untilLook(afterChangeAt: 100_000) == 300)
        pacing.connected()
        #expect(pacing.untilLook == 5_000)
        #expect(pacing.untilLook(afterChangeAt: 0) == 300)
    }
}
