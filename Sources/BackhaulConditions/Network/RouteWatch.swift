public import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Tells when a link, an address or a route of this network namespace changes (rtnetlink(7)), without looking again and
/// again. What has changed is not told: whoever waits tries.
public final class RouteWatch: Sendable {
    private let descriptor: Descriptor
    /// Readable when there is something to take.
    public var number: Int32 { descriptor.number }

    public init() throws(SystemError) {
        let number = bhl_watch_routes()
        guard number >= 0 else { throw SystemError.last("cannot watch the network's routes") }
        descriptor = Descriptor(owning: number)
    }

    /// Takes what was told. True when something was, be it that there was too much to be kept.
    public func takeChanges() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var hasChanged = false
        while true {
            let count = recv(descriptor.number, &buffer, buffer.count, 0)
            if count > 0 {
                hasChanged = true
            } else if count < 0, bhl_errno() == ENOBUFS {
                hasChanged = true
            } else if !(count < 0 && bhl_errno() == EINTR) {
                return hasChanged
            }
        }
    }
}
