internal import BackhaulPlatform
internal import CLinux

/// Finds the interface of the kernel's default route.
enum DefaultRoute {
    struct Link: Equatable, Sendable {
        var name: String
        /// ARPHRD_… (linux/if_arp.h); nil if the interface has disappeared.
        var type: Int?
    }

    /// Returns the interface, or nil if no route leads to other networks. There may be several routing tables, and
    /// rules that choose between them, such as the rules of a VPN. So this function does not read the tables, but asks
    /// the kernel for the route. No packet is sent.
    static func find() -> Result<Link?, SystemError> {
        for family in [AF_INET, AF_INET6] {
            var route = bhl_route()
            switch bhl_default_route(family, &route) {
            case 1: return .success(link(route))
            case 0: continue
            default:
                let error = SystemError.last("cannot ask the kernel for the default route")
                // A kernel may be built without one of the address families.
                if error.code != EAFNOSUPPORT, error.code != EOPNOTSUPP { return .failure(error) }
            }
        }
        return .success(nil)
    }

    private static func link(_ route: bhl_route) -> Link {
        // Unsafe: the name is an array in the C struct that ends with a zero. It is copied here.
        let name = withUnsafeBytes(of: route.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return Link(name: name, type: route.type < 0 ? nil : Int(route.type))
    }
}
