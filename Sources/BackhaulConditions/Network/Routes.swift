internal import BackhaulModel
internal import CLinux
internal import Glibc

/// What the kernel reports about routes to other machines. Each function makes a few system calls and does not block.
public enum Routes {
    /// Whether this error of connect(2) means that no route leads to the server. Such an error is not a failure of the
    /// server. The routes `blackhole` and `prohibit`, with which some programs block all traffic outside of a VPN,
    /// cause EINVAL and EACCES. But these errors also have other causes, such as a security module, or a link-local
    /// address without an interface. So they count only if the kernel has no route.
    ///
    /// - address: the numeric address to which the connection failed, or an empty string.
    public static func isUnreachable(_ code: Int32, to address: String) -> Bool {
        isUnreachable(code, to: address) { bhl_lacks_route($0) != 0 }
    }

    static func isUnreachable(_ code: Int32, to address: String, lacksRoute: (String) -> Bool) -> Bool {
        switch code {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: true
        case EINVAL, EACCES: !Connectivity.isLinkLocal(address) && lacksRoute(address)
        default: false
        }
    }

    /// Whether this error of connect(2) means that the server's machine has refused the connection.
    public static func isRefused(_ code: Int32) -> Bool { code == ECONNREFUSED }

    /// Whether a route leads to the numeric address.
    public static func hasRoute(_ address: String) -> Bool { bhl_has_route(address) != 0 }

    /// Whether an interface other than the loopback is up and has an address.
    public static var hasNetwork: Bool { bhl_has_network() != 0 }

    /// Whether a route leads to one of the name servers, so that names can be resolved. A name server on this machine
    /// forwards queries to other servers, so it counts only if there is a network.
    public static func hasRouteToNameServer(resolverFile: String = "/etc/resolv.conf") -> Bool {
        Connectivity.nameServers(contents(of: resolverFile)).contains { server in
            isOnThisMachine(server) ? hasNetwork : hasRoute(server)
        }
    }

    private static func isOnThisMachine(_ server: String) -> Bool {
        Connectivity.isLoopback(server) || server == "::1"
    }

    /// The first 64 KiB of the file; empty if it cannot be read.
    private static func contents(of path: String) -> String {
        let number = bhl_open(path, O_RDONLY | O_NONBLOCK, 0)
        guard number >= 0 else { return "" }
        defer { close(number) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
