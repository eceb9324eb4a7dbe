import Testing

@testable import BackhaulTransport

@Suite struct NetworkAddressTests {
    @Test(
        "addresses of this machine, of local networks, of providers and of metadata services are private",
        arguments: [
            "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255",
            "192.168.0.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "100.127.255.255", "192.0.0.192",
            "198.18.0.1", "168.63.129.16", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1",
            "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8", "2002:7f00:1::",
            "2002:a9fe:a9fe::1", "2001::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
            "[::1]",
        ])
    func privateAddress(text: String) throws { #expect(try #require(NetworkAddress(text)).isPrivate) }

    @Test(
        "other addresses are public, also inside of an address of IPv6",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.0.1.0",
            "100.63.255.255", "100.128.0.0", "168.63.129.17", "223.255.255.255", "2606:4700::1111", "2a00::1",
            "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1",
        ])
    func publicAddress(text: String) throws { #expect(try !#require(NetworkAddress(text)).isPrivate) }

    @Test(
        "an address in the name of a server is private in each form that a resolver accepts",
        arguments: ["169.254.169.254.", "10.1", "10.1.", "127.1", "0x7f.1", "2130706433", "0177.0.0.1"])
    func otherForm(server: String) { #expect(NetworkAddress.isPrivate(server: server)) }

    @Test("a name is private only if it always means this machine")
    func names() {
        for name in ["localhost", "localhost.", "a.localhost", "127.0.0.1", "[::1]"] {
            #expect(NetworkAddress.isPrivate(server: name), "\(name)")
        }
        for name in ["example.org", "notlocalhost", "localhost.example.org", "1.1.1.1", "1.1.1.1.", "1.1"] {
            #expect(!NetworkAddress.isPrivate(server: name), "\(name)")
        }
    }
}
