public import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Reports that a link, an address or a route of this network namespace has changed (rtnetlink(7)), without polling.
/// The watch does not report what has changed, so its users read the routes again.
public final class RouteWatch: Sendable {
    private let descriptor: Descriptor
    /// A descriptor that is readable when there are changes to take.
    public var number: Int32 { descriptor.number }

    public init() throws(SystemError) {
        let number = bhl_watch_routes()
        guard number >= 0 else { throw SystemError.last("cannot watch the network's routes") }
        descriptor = Descriptor(owning: number)
    }

    /// Reads the changes. Returns true if there were changes, or if the kernel dropped changes.
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
