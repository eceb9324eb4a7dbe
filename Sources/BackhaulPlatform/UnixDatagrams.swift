internal import CLinux
internal import Glibc

/// A Unix datagram socket that sends to one address and never waits.
public final class UnixDatagrams: Sendable {
    private let descriptor: Descriptor

    /// Nil when nobody listens at the path, or no descriptor is left.
    public static func connect(path: String) -> UnixDatagrams? {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { return nil }
        let socket = UnixDatagrams(owning: number)
        guard var address = try? UnixAddress.make(path: path, path),
            UnixAddress.with(&address, { Glibc.connect(number, $0, $1) }) == 0
        else { return nil }
        return socket
    }

    private init(owning number: Int32) { descriptor = Descriptor(owning: number) }

    /// False when it did not fit, or nobody listens any more, or too much waits there.
    public func send(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == bytes.count
    }
}
