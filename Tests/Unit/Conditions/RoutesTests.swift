import BackhaulConditions
import Glibc
import Testing

@Suite("Routes")
struct RoutesTests {
    @Test("a route leads to this machine, and none to what is no address", arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("", false), ("example", false), ("1.2.3.4.5", false),
        ("256.1.1.1", false), ("::zz", false), ("fe80::1%nothing", false),
    ])
    func reach(_ address: String, _ isReached: Bool) { #expect(Routes.reach(address) == isReached) }

    @Test("codes of connect(2) that speak of the network, and those that speak of the server", arguments: [
        (ENETUNREACH, true), (EHOSTUNREACH, true), (ENETDOWN, true), (ECONNREFUSED, false), (ETIMEDOUT, false),
        (ECONNRESET, false), (0, false), (-1, false),
    ])
    func codes(_ code: Int32, _ isOfNetwork: Bool) { #expect(Routes.isUnreachable(code) == isOfNetwork) }

    @Test("a name server on this machine needs a network, and so does a system without any")
    func nameServers() {
        #expect(Routes.reachNameServer(resolverFile: "/nowhere") == Routes.hasNetwork)
    }

    @Test("a watch has nothing to take once everything was taken, and is not inherited by programs")
    func watch() throws {
        let watch = try RouteWatch()
        #expect(fcntl(watch.number, F_GETFD) & FD_CLOEXEC != 0)
        while watch.takeChanges() {}
    }
}
