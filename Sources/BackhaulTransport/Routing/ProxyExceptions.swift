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
        let address = NetworkAddress(server)
        let name = ProxyExceptions.withoutDots(Substring(server))
        return entries.contains { entry in
            if let address { return address.isIn(entry) }
            let suffix = ProxyExceptions.withoutDots(Substring(entry.lowercased()))
            return !suffix.isEmpty && (name == suffix || name.hasSuffix("." + suffix))
        }
    }

    /// Removes one dot before a name (".example.org") and one dot after the name. These dots do not change the meaning.
    private static func withoutDots(_ name: Substring) -> Substring {
        let rest = name.first == "." ? name.dropFirst() : name
        return rest.last == "." ? rest.dropLast() : rest
    }
}
