internal import CLinux

/// Operations on sockets of TCP that belong to other modules.
public enum TCPSocket {
    /// Whether the socket's local address was removed from this machine. Other machines then send nothing to the socket
    /// any more. Also true if the socket is connecting from an IPv6 address that reaches no other network.
    public static func hasLostAddress(_ number: Int32) -> Bool { bhl_lacks_local_address(number) != 0 }

    /// Disconnects the socket at once. Its user gets the error ECONNRESET, and never an end of the stream.
    public static func reset(_ number: Int32) { bhl_reset(number) }
}
