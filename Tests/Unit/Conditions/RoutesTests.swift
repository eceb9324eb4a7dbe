import BackhaulConditions
import Glibc
import Testing

/// A *route watch* is notified when the kernel's routes change.
@Suite("Routes")
struct RoutesTests {
    @Test(
        "loopback addresses have a route, and invalid addresses have no route",
        arguments: [
            ("127.0.0.1", true), ("127.9.9.9", true), ("", false), ("example", false), ("1.2.3.4.5", false),
            ("256.1.1.1", false), ("::zz", false), ("fe80::1%nothing", false),
        ])
    func hasRoute(_ address: String, _ isReached: Bool) { #expect(Routes.hasRoute(address) == isReached) }

    @Test(
        "error codes of connect(2) are classified as failures of the network or of the server",
        arguments: [
            (ENETUNREACH, true), (EHOSTUNREACH, true), (ENETDOWN, true), (ECONNREFUSED, false), (ETIMEDOUT, false),
            (ECONNRESET, false), (0, false), (-1, false),
        ])
    func codes(_ code: Int32, _ isOfNetwork: Bool) { #expect(Routes.isUnreachable(code) == isOfNetwork) }

    @Test("if the resolver file is missing, a name server counts as reachable while there is a network")
    func nameServers() {
        #expect(Routes.hasRouteToNameServer(resolverFile: "/nowhere") == Routes.hasNetwork)
    }

    @Test("a route watch reports no change after all changes were read, and its descriptor is closed on exec")
    func watch() throws {
        let watch = try RouteWatch()
        #expect(fcntl(watch.number, F_GETFD) & FD_CLOEXEC != 0)
        while watch.takeChanges() {}
    }
}
