internal import BackhaulModel
internal import Glibc

/// The servers to which requests go without a proxy, in the format of `no_proxy` (CURLOPT_NOPROXY(3)). An entry is a
/// name, an address, or a network such as "10.0.0.0/8". A name includes its subdomains. Commas, spaces or tabs separate
/// entries. If "*" is the only entry, it stands for all servers.
///
/// This type reads the list itself, because libcurl before version 8.7 does not report whether it has used a proxy.
struct ProxyExceptions {
    private let entries: [Substring]

    init(_ text: String) {
        entries = text.split { $0 == "," || $0 == " " || $0 == "\t" }
    }

    /// - server: the server in lower case, with an IPv6 address in brackets. A name is not resolved, so it never
    ///   matches an address.
    func contains(_ server: String) -> Bool {
        if entries == ["*"] { return true }
        let address = Address(server)
        let name = ProxyExceptions.withoutDots(Substring(server))
        return entries.contains { entry in
            if let address { return ProxyExceptions.network(entry, holds: address) }
            let suffix = ProxyExceptions.withoutDots(Substring(entry.lowercased()))
            return !suffix.isEmpty && (name == suffix || name.hasSuffix("." + suffix))
        }
    }

    /// Removes one dot before a name (".example.org") and one dot after the name. These dots do not change the meaning.
    private static func withoutDots(_ name: Substring) -> Substring {
        let rest = name.first == "." ? name.dropFirst() : name
        return rest.last == "." ? rest.dropLast() : rest
    }

    private static func network(_ entry: Substring, holds address: Address) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let text = parts.first, let network = Address(String(text)),
            network.bytes.count == address.bytes.count
        else { return false }
        guard parts.count == 2 else { return network == address }
        guard let bits = UInt8(digits: parts[1]).map(Int.init), bits <= address.bytes.count * 8 else { return false }
        let whole = bits / 8
        guard network.bytes.prefix(whole) == address.bytes.prefix(whole) else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF << (8 - bits % 8))
        return network.bytes[whole] & mask == address.bytes[whole] & mask
    }

    private struct Address: Equatable {
        var bytes: [UInt8]

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
    }
}
