internal import CBackhaul
internal import CBackhaulSystem
internal import Glibc

/// A wait for descriptors. Another thread can end the wait by calling `wake`.
package final class DescriptorWait: Sendable {
    private let wakeUp: Int32

    package init() throws(BackhaulError) {
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeUp >= 0 else {
            throw BackhaulError(
                BH_OUT_OF_RESOURCES, domain: Int32(BH_DOMAIN_SYSTEM), detail: Int64(bh_swift_errno()),
                message: "an event descriptor cannot be made")
        }
    }

    deinit { Glibc.close(wakeUp) }

    package func wake() {
        var one: UInt64 = 1
        _ = write(wakeUp, &one, 8)
    }

    /// Waits until one of the descriptors is readable, another thread calls `wake`, or the time is over. `milliseconds`
    /// is the longest wait. If it is -1, the wait has no limit.
    package func wait(_ descriptors: [Int32], milliseconds: Int32) {
        var set = (descriptors + [wakeUp]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&set, nfds_t(set.count), milliseconds)
        var value: UInt64 = 0
        _ = read(wakeUp, &value, 8)
    }
}
