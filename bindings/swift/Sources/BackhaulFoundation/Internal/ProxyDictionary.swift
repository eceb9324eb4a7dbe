internal import Backhaul
internal import Foundation

extension Proxy {
    /// Creates the proxy that a dictionary describes. The dictionary has the keys of CFNetwork, an Apple library. An
    /// empty dictionary becomes the proxy "none". Nil if the dictionary has several proxies, an automatic proxy, or a
    /// proxy without a host name.
    init?(dictionary: [AnyHashable: Any]) {
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
        let user = found.isEmpty ? nil : dictionary["kCFProxyUsernameKey"] as? String
        let exceptions = dictionary["ExceptionsList"] as? [String] ?? []
        self.init(
            url: found.first ?? "none", user: user,
            password: user == nil ? nil : dictionary["kCFProxyPasswordKey"] as? String,
            bypass: exceptions.isEmpty || found.isEmpty ? nil : exceptions.joined(separator: ","))
    }
}
