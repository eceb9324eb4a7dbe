internal import Foundation

/// CFNetwork's dictionary of proxies, as far as it says one proxy.
struct ProxyDictionary: Equatable {
    /// "none" for an empty dictionary.
    let url: String
    let user: String?
    let password: String?
    let exceptions: String?

    /// Nil: more than one proxy, an automatic one, or none that is whole.
    init?(_ dictionary: [AnyHashable: Any]) {
        func isOn(_ name: String) -> Bool {
            switch dictionary[name] {
            case let value as Bool: value
            case let value as Int: value != 0
            default: false
            }
        }
        if isOn("ProxyAutoConfigEnable") || isOn("ProxyAutoDiscoveryEnable") { return nil }
        var found: Set<String> = []
        for (name, scheme) in [("HTTP", "http"), ("HTTPS", "http"), ("SOCKS", "socks5h")] where isOn(name + "Enable") {
            guard let host = dictionary[name + "Proxy"] as? String, !host.isEmpty else { return nil }
            let isAddress = host.contains(":") && !host.hasPrefix("[")
            let port = (dictionary[name + "Port"] as? Int).map { ":\($0)" } ?? ""
            found.insert("\(scheme)://\(isAddress ? "[\(host)]" : host)\(port)")
        }
        guard found.count <= 1 else { return nil }
        url = found.first ?? "none"
        user = found.isEmpty ? nil : dictionary["kCFProxyUsernameKey"] as? String
        password = user == nil ? nil : dictionary["kCFProxyPasswordKey"] as? String
        let list = dictionary["ExceptionsList"] as? [String] ?? []
        exceptions = list.isEmpty || found.isEmpty ? nil : list.joined(separator: ",")
    }
}
