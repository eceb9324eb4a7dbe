internal import CLinux
internal import Glibc

/// A Unix datagram socket that sends to one address. A call blocks only if the caller permits a wait.
public final class UnixDatagramSocket: Sendable {
    private let descriptor: Descriptor

    /// Makes a socket that sends to the address.
    ///
    /// - path: the path of a socket's file, or "@" and an abstract name, which has no file (unix(7)). The form is the
    /// same as in sd_notify(3).
    /// - Returns: nil if no process listens at the path, or if no descriptor is left.
    public static func connect(path: String) -> UnixDatagramSocket? {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { return nil }
        let socket = UnixDatagramSocket(owning: number)
        guard var address = try? UnixAddress.make(path: path, path),
            UnixAddress.with(&address, { Glibc.connect(number, $0, $1) }) == 0
        else { return nil }
        return socket
    }

    private init(owning number: Int32) { descriptor = Descriptor(owning: number) }

    /// Sends one datagram.
    ///
    /// - milliseconds: how long to wait for space in the receiver's queue.
    /// - Returns: false if the datagram is too large, the receiver has closed its socket, or the queue stays full.
    public func send(_ bytes: [UInt8], waitingMilliseconds milliseconds: Int32 = 0) -> Bool {
        let deadline = Deadline.after(milliseconds: Int64(milliseconds))
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count == bytes.count { return true }
            let left = deadline.millisecondsLeft
            guard count < 0, bhl_errno() == EAGAIN || bhl_errno() == EINTR, left > 0 else { return false }
            var item = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
            poll(&item, 1, Int32(clamping: left))
        }
    }
}
