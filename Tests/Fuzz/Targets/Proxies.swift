import BackhaulModel
import CCurl
import Glibc

@testable import BackhaulTransport

/// Proxies, the servers that need none, and addresses of the network.
enum Proxies {
    /// The bytes are two addresses with the size of a network, and a text.
    @Sendable static func check(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        try checkNetwork(&input)
        let text = String(decoding: input.rest.prefix { $0 != 0 }, as: UTF8.self)
        try checkLiteral(text)
        try checkExceptions(text, &input)
        try checkRoute(text)
    }

    /// A network contains the addresses whose first bits are the same.
    private static func checkNetwork(_ input: inout FuzzInput) throws {
        let size = input.flag() ? 16 : 4
        let network = (0..<size).map { _ in input.byte() }
        // Most addresses of two random ones have other first bits, so one is made of the other.
        var address = network
        for _ in 0..<input.byte() % 3 { address[Int(input.byte()) % size] ^= input.byte() }
        let bits = Int(input.byte()) % (size * 8 + 2)
        let isEqual = (0..<min(bits, size * 8)).allSatisfy { (bit: Int) -> Bool in
            let difference: UInt8 = network[bit / 8] ^ address[bit / 8]
            return difference & (0x80 >> UInt8(bit % 8)) == 0
        }
        let expected = bits <= size * 8 && isEqual
        let entry = "\(text(network))/\(bits)"
        let found = NetworkAddress(text(address))
        try requireEqual(found?.bytes, address, "the address \(text(address))")
        try requireEqual(found?.isIn(Substring(entry)), expected, "whether \(text(address)) is in \(entry)")
        try requireEqual(found?.isIn(Substring(text(network))), network == address, "whether two addresses are equal")
        let server = size == 16 ? "[\(text(address))]" : text(address)
        let exceptions = ProxyExceptions("example.org, \(entry)")
        try requireEqual(exceptions.contains(server), expected, "whether \(server) needs no proxy with \(entry)")
    }

    /// The address as inet_ntop(3) writes it.
    private static func text(_ address: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: 64)
        inet_ntop(address.count == 4 ? AF_INET : AF_INET6, address, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A text that getaddrinfo(3) reads as an address is that address here, too.
    private static func checkLiteral(_ text: String) throws {
        let expected = literal(text)
        if let found = NetworkAddress(text), !text.contains("%"), !text.hasPrefix("[") {
            try requireEqual(expected, found.bytes, "the address \(text)")
        }
        guard let expected else { return }
        let isPrivate = NetworkAddress(bytes: expected).isPrivate
        try requireEqual(NetworkAddress.isPrivate(server: text), isPrivate, "whether \(text) is private")
    }

    private static func literal(_ text: String) -> [UInt8]? {
        var (hints, first) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        guard getaddrinfo(text, nil, &hints, &first) == 0, let address = first?.pointee.ai_addr else { return nil }
        defer { freeaddrinfo(first) }
        // Unsafe: getaddrinfo(3) returns an address of the size of its family.
        if Int32(address.pointee.sa_family) == AF_INET {
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
        }
        return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
            withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
        }
    }

    /// A name and its subdomains need no proxy, whatever else the list has.
    private static func checkExceptions(_ text: String, _ input: inout FuzzInput) throws {
        let entry = input.choice(["example.org", ".example.org", "EXAMPLE.ORG.", "a.Example.org"])
        let list = text + input.choice([",", " ", "\t", " , "]) + entry
        for server in ["a.example.org", "b.a.example.org", "a.example.org."] {
            try require(ProxyExceptions(list).contains(server), "\(server) is not in \(list)")
        }
        let others = ProxyExceptions(entry)
        for server in ["example.com", "xexample.org", "org", "[::1]", "127.0.0.1", "a.example.org.com"] {
            try require(!others.contains(server), "\(server) is in \(entry)")
        }
    }

    /// The route has no user in its URL, and the URL of the route is the same proxy.
    private static func checkRoute(_ text: String) throws {
        var configuration = ProxyConfiguration()
        configuration.url = text
        let origin = Origin(scheme: "https", server: "example.org", port: 443)
        let found: ProxyRoute?
        do throws(Failure) {
            found = try ProxySelector.route(to: origin, configuration, variable: { _ in nil })
        } catch {
            return try requireEqual(error.status, .connectionFailed, "the status of the failure")
        }
        guard let route = found else { return try requireEqual(text, "none", "the text for no proxy") }
        try require(!route.url.contains("@"), "a user in the URL \(route.url)")
        configuration.url = route.url
        let again = try ProxySelector.route(to: origin, configuration, variable: { _ in nil })
        // libcurl writes an address in its usual form, but not if a part of it was percent-encoded.
        let url = text.utf8.contains(UInt8(ascii: "%")) ? again?.url ?? "" : route.url
        try requireEqual(again, ProxyRoute(url: url), "the proxy \(route.url) of \(text)")
        // The environment states the proxy in the same way.
        let other = try ProxySelector.route(to: origin, ProxyConfiguration()) { $0 == "https_proxy" ? text : nil }
        try requireEqual(other, text.isEmpty ? nil : route, "the proxy of the environment")
    }
}
