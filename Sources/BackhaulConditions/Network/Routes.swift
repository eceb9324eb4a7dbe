internal import BackhaulModel
internal import CLinux
internal import Glibc

/// What the kernel says of ways to other machines. Each is a few system calls that wait for nothing.
public enum Routes {
    /// Codes of connect(2) that say so of the network, and not of the server.
    public static func isUnreachable(_ code: Int32) -> Bool {
        code == ENETUNREACH || code == EHOSTUNREACH || code == ENETDOWN
    }

    /// Some machine is there and takes no connection.
    public static func isRefused(_ code: Int32) -> Bool { code == ECONNREFUSED }

    /// A route leads to the numeric address.
    public static func reach(_ address: String) -> Bool { bhl_has_route(address) != 0 }

    /// An interface other than the loopback is up and has an address.
    public static var hasNetwork: Bool { bhl_has_network() != 0 }

    /// A name could be looked up: a route leads to one of the name servers. One on this machine asks others, for which
    /// it needs a network.
    public static func reachNameServer(resolverFile: String = "/etc/resolv.conf") -> Bool {
        Connectivity.nameServers(contents(of: resolverFile)).contains { server in
            isOnThisMachine(server) ? hasNetwork : reach(server)
        }
    }

    private static func isOnThisMachine(_ server: String) -> Bool {
        Connectivity.isLoopback(server) || server == "::1"
    }

    /// Its first 64 KiB; empty when it cannot be read.
    private static func contents(of path: String) -> String {
        let number = bhl_open(path, O_RDONLY | O_NONBLOCK, 0)
        guard number >= 0 else { return "" }
        defer { close(number) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
