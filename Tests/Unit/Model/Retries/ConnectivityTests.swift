import BackhaulModel
import Testing

@Suite("Failures that mean a missing route")
struct ConnectivityTests {
    private func isRouteMissing(
        _ status: Status, _ server: String, isUnreachable: Bool = false, hasRouteToNameServer: Bool = true
    ) -> Bool {
        Connectivity.isRouteMissing(
            Failure(status, "it failed"), server: server,
            Connectivity.Facts(isUnreachable: isUnreachable, hasRouteToNameServer: hasRouteToNameServer))
    }

    @Test("A failed connection means a missing route only if the network is unreachable")
    func connections() {
        #expect(isRouteMissing(.connectionFailed, "example.org", isUnreachable: true))
        #expect(!isRouteMissing(.connectionFailed, "example.org"))
    }

    @Test("An unresolved name means a missing route only if no name server is reachable")
    func names() {
        #expect(isRouteMissing(.nameNotResolved, "example.org", hasRouteToNameServer: false))
        #expect(!isRouteMissing(.nameNotResolved, "example.org"))
    }

    @Test(
        "Only failures of connections or names can mean a missing route",
        arguments: [
            Status.connectionLost, .requestTimeout, .tlsFailed, .httpStatus, .badResponse, .diskFailed,
        ])
    func others(_ status: Status) {
        #expect(!isRouteMissing(status, "example.org", isUnreachable: true, hasRouteToNameServer: false))
    }

    @Test(
        "A failure of a server on this machine never means a missing route",
        arguments: [
            ("127.0.0.1", true), ("127.255.1.2", true), ("[::1]", true), ("localhost", true), ("a.localhost", true),
            ("127.0.0.1.example.org", false), ("127.example.org", false), ("128.0.0.1", false), ("127.0.0.256", false),
            ("127.0.0", false), ("127.0.0.+1", false), ("[::2]", false), ("localhost.example.org", false), ("", false),
        ])
    func loopback(_ server: String, _ isThisMachine: Bool) {
        #expect(Connectivity.isLoopback(server) == isThisMachine)
        #expect(isRouteMissing(.connectionFailed, server, isUnreachable: true) == !isThisMachine)
    }

    @Test(
        "At most three name servers are read from resolv.conf(5); if it has none, 127.0.0.1 is used",
        arguments: [
            ("nameserver 192.0.2.1\n", ["192.0.2.1"]), ("nameserver\t2001:db8::1", ["2001:db8::1"]),
            ("", ["127.0.0.1"]),
            ("# nameserver 192.0.2.1\nsearch example.org\n", ["127.0.0.1"]), ("nameserver\n", ["127.0.0.1"]),
            ("nameserver a\nnameserver b\r\nnameserver c\nnameserver d\n", ["a", "b", "c"]),
            ("nameserver fe80::1%eth0 comment", ["fe80::1%eth0"]),
        ])
    func resolver(_ text: String, _ servers: [String]) { #expect(Connectivity.nameServers(text) == servers) }
}

@Suite("When unreachable servers are checked again")
struct ConnectivityPacingTests {
    @Test("Without a change of the network, connectivity checks become rarer, down to one in five minutes")
    func looks() {
        var pacing = ConnectivityCheckBackoff()
        var waits: [Int64] = []
        for check in 0..<10 {
            waits.append(pacing.millisecondsUntilCheck)
            pacing.noteCheck(at: Int64(check))
        }
        #expect(waits == [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000])
    }

    @Test("Connectivity is checked 300 ms after a change of the network")
    func change() {
        let pacing = ConnectivityCheckBackoff()
        #expect(pacing.millisecondsUntilCheck(afterChangeAt: 1_000_000) == 300)
    }

    @Test("While a link flaps, connectivity checks become rarer, down to one in a minute")
    func flapping() {
        var pacing = ConnectivityCheckBackoff()
        var now: Int64 = 1_000_000
        var checks: [Int64] = []
        while now < 2_000_000 {
            now += pacing.millisecondsUntilCheck(afterChangeAt: now)
            pacing.noteCheck(at: now)
            checks.append(now)
        }
        #expect(checks.count < 25)
        #expect(checks.suffix(2).first.map { now - $0 } == 60_000)
    }

    @Test("A time without changes of the network, or a successful connection, makes connectivity checks frequent again")
    func quiet() {
        var pacing = ConnectivityCheckBackoff()
        for _ in 0..<20 { pacing.noteCheck(at: 0) }
        #expect(pacing.millisecondsUntilCheck(afterChangeAt: 100_000) == 300)
        pacing.connected()
        #expect(pacing.millisecondsUntilCheck == 5_000)
        #expect(pacing.millisecondsUntilCheck(afterChangeAt: 0) == 300)
    }
}
