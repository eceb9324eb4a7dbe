internal import BackhaulModel
internal import CCurl
internal import Glibc

/// An address of IPv4 or IPv6.
struct NetworkAddress: Equatable {
    /// 4 or 16 bytes.
    var bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads an address as in a URL (an IPv6 address may be in brackets) or as made by inet_ntop(3).
    init?(_ text: String) {
        let isBracketed = text.first == "[" && text.last == "]"
        // A zone ("fe80::1%25eth0") is not part of the address.
        let plain = String((isBracketed ? text.dropFirst().dropLast() : Substring(text)).prefix { $0 != "%" })
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: size)
            if inet_pton(family, plain, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// Reads an address of IPv4 in the other forms of inet_aton(3), such as "10.1" or "0xa000001".
    private init?(otherForm text: String) {
        var address = in_addr()
        guard inet_aton(text, &address) != 0 else { return nil }
        let number = UInt32(bigEndian: address.s_addr)
        bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// Whether the text is this address, or a network that contains it, such as "10.0.0.0/8".
    func isIn(_ text: Substring) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let network = NetworkAddress(String(first)), network.bytes.count == bytes.count
        else { return false }
        guard parts.count == 2 else { return network == self }
        guard let bits = UInt8(digits: parts[1]).map(Int.init), bits <= bytes.count * 8 else { return false }
        let whole = bits / 8
        guard network.bytes.prefix(whole) == bytes.prefix(whole) else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF << (8 - bits % 8))
        return network.bytes[whole] & mask == bytes[whole] & mask
    }
}

extension NetworkAddress {
    /// Networks that belong to this machine, to its neighbourhood, or to no single machine (RFC 6890, and the registry
    /// iana-ipv4-special-registry of IANA). The last entry is a service of Azure for its virtual machines. The other
    /// addresses of metadata services are in networks of the list: 169.254.169.254, 100.100.100.200, 192.0.0.192.
    private static let privateNetworks: [Substring] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3", "168.63.129.16",
    ]

    /// Networks of IPv6 whose addresses contain an IPv4 address, and the index of its first byte: mapped addresses
    /// (RFC 4291), NAT64 (RFC 6052) and 6to4 (RFC 3056).
    private static let embeddings: [(network: Substring, index: Int)] = [
        ("::ffff:0:0/96", 12), ("64:ff9b::/96", 12), ("2002::/16", 2),
    ]

    /// Whether a connection to this address leads to this machine or to a local network.
    var isPrivate: Bool {
        if bytes.count == 4 { return Self.privateNetworks.contains { isIn($0) } }
        if let index = Self.embeddings.first(where: { isIn($0.network) })?.index {
            return NetworkAddress(bytes: Array(bytes[index..<index + 4])).isPrivate
        }
        // All public addresses of IPv6 are in 2000::/3. Teredo (RFC 4380), whose addresses contain a hidden IPv4
        // address, is obsolete.
        return !isIn("2000::/3") || isIn("2001::/32")
    }

    /// Whether the text names a private address: an address of IPv4 or IPv6, or a name that always means this machine
    /// (RFC 6761, section 6.3). Other names are not resolved.
    /// - server: a server in lower case, with an IPv6 address in brackets.
    static func isPrivate(server: String) -> Bool {
        // A final dot marks a complete name (RFC 1034, section 3.1). Many resolvers also accept it after an address.
        let server = server.last == "." ? String(server.dropLast()) : server
        if let address = NetworkAddress(server) ?? NetworkAddress(otherForm: server) { return address.isPrivate }
        return Connectivity.isLoopback(server)
    }
}
