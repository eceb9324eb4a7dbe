internal import BackhaulPlatform
internal import CLinux

/// The interface through which the kernel would send to the world.
enum DefaultRoute {
    struct Link: Equatable, Sendable {
        var name: String
        /// ARPHRD_… (linux/if_arp.h); nil when the interface has gone meanwhile.
        var type: Int?
    }

    /// Nil when no route leads to other networks. The kernel is asked, so that rules for several tables count, as VPNs
    /// make them; nothing is sent.
    static func find() -> Result<Link?, SystemError> {
        for family in [AF_INET, AF_INET6] {
            var route = bhl_route()
            switch bhl_world_route(family, &route) {
            case 1: return .success(link(route))
            case 0: continue
            default:
                let error = SystemError.last("cannot ask the kernel for the default route")
                // A machine may be built without one of the families.
                if error.code != EAFNOSUPPORT, error.code != EOPNOTSUPP { return .failure(error) }
            }
        }
        return .success(nil)
    }

    private static func link(_ route: bhl_route) -> Link {
        // Unsafe: the name is an array of the C struct that ends with a zero; copied at once.
        let name = withUnsafeBytes(of: route.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return Link(name: name, type: route.type < 0 ? nil : Int(route.type))
    }
}
