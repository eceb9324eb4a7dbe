import Glibc
import Testing

@testable import BackhaulConditions

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
    func codes(_ code: Int32, _ isOfNetwork: Bool) {
        #expect(Routes.isUnreachable(code, to: "192.0.2.1") { _ in true } == isOfNetwork)
    }

    @Test(
        "EINVAL and EACCES mean a missing route only if the kernel has no route to the address",
        arguments: [EINVAL, EACCES],
        [
            ("192.0.2.1", false, true), ("192.0.2.1", true, false), ("2001:db8::1", false, true),
            ("2001:db8::1", true, false), ("fe80::1", false, false), ("febf::1", false, false),
            ("fec0::1", false, true),
        ])
    func blocked(_ code: Int32, _ row: (address: String, hasRoute: Bool, isUnreachable: Bool)) {
        #expect(Routes.isUnreachable(code, to: row.address) { _ in !row.hasRoute } == row.isUnreachable)
    }

    @Test(
        "an address of this machine and a text that is not an address do not lack a route",
        arguments: ["127.0.0.1", "::1", "", "example.org", "[::1]", "256.1.1.1"])
    func present(_ address: String) { #expect(!Routes.isUnreachable(EACCES, to: address)) }

    @Test("if the resolver file is missing, a name server counts as reachable while there is a network")
    func nameServers() {
        #expect(Routes.hasRouteToNameServer(resolverFile: "/nowhere") == Routes.hasNetwork)
    }
}
