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

    @Test("A connection that found the network unreachable; not one that was refused")
    func connections() {
        #expect(isMissing(.connectionFailed, "example.org", isUnreachable: true))
        #expect(!isMissing(.connectionFailed, "example.org"))
    }

    @Test("A name where no name server can be reached; not one that others resolve beside")
    func names() {
        #expect(isMissing(.nameNotResolved, "example.org", reachesNameServer: false))
        #expect(!isMissing(.nameNotResolved, "example.org"))
    }

    @Test("No other failure", arguments: [
        Status.connectionLost, .requestTimeout, .tlsFailed, .httpStatus, .badResponse, .diskFailed,
    ])
    func others(_ status: Status) {
        #expect(!isMissing(status, "example.org", isUnreachable: true, reachesNameServer: false))
    }

    @Test("Never this machine", arguments: [
        ("127.0.0.1", true), ("127.255.1.2", true), ("[::1]", true), ("localhost", true), ("a.localhost", true),
        ("127.0.0.1.example.org", false), ("127.example.org", false), ("128.0.0.1", false), ("127.0.0.256", false),
        ("127.0.0", false), ("[::2]", false), ("localhost.example.org", false), ("", false),
    ])
    func loopback(_ server: String, _ isThisMachine: Bool) {
        #expect(Connectivity.isLoopback(server) == isThisMachine)
        #expect(isMissing(.connectionFailed, server, isUnreachable: true) == !isThisMachine)
    }

    @Test("Name servers are read as resolv.conf(5) has them, three at most; none is this machine", arguments: [
        ("nameserver 192.0.2.1\n", ["192.0.2.1"]), ("nameserver\t2001:db8::1", ["2001:db8::1"]), ("", ["127.0.0.1"]),
        ("# nameserver 192.0.2.1\nsearch example.org\n", ["127.0.0.1"]), ("nameserver\n", ["127.0.0.1"]),
        ("nameserver a\nnameserver b\r\nnameserver c\nnameserver d\n", ["a", "b", "c"]),
        ("nameserver fe80::1%eth0 comment", ["fe80::1%eth0"]),
    ])
    func resolver(_ text: String, _ servers: [String]) { #expect(Connectivity.nameServers(text) == servers) }
}

@Suite("When unreachable servers are checked again")
struct ConnectivityPacingTests {
    @Test("Without a change the looks get rarer, up to one in five minutes")
    func looks() {
        var pacing = ConnectivityPacing()
        var waits: [Int64] = []
        for look in 0..<10 {
            waits.append(pacing.untilLook)
            pacing.looked(at: Int64(look))
        }
        #expect(waits == [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000])
    }

    @Test("A change is looked at when it has settled")
    func change() {
        let pacing = ConnectivityPacing()
        #expect(pacing.untilLook(afterChangeAt: 1_000_000) == 300)
    }

    @Test("A link that flaps brings about fewer and fewer looks, one in a minute in the end")
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

    @Test("After a quiet time a change is looked at as at first, and so are looks once a server has answered")
    func quiet() {
        var pacing = ConnectivityPacing()
        for _ in 0..<20 { pacing.looked(at: 0) }
        #expect(pacing.untilLook(afterChangeAt: 100_000) == 300)
        pacing.connected()
        #expect(pacing.untilLook == 5_000)
        #expect(pacing.untilLook(afterChangeAt: 0) == 300)
    }
}
