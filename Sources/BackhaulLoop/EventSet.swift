internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// An epoll set of our own, whose errors are answers: libuv ends the process where it meets them.
///
/// It holds a bell, a descriptor that is always ready but not listened to. Listening to it once wakes the waiting
/// thread, with one system call, nothing to read back, and no byte that could land in a file of the host's: a number
/// that was closed under us and taken by another descriptor is refused by the kernel, where write(2) to an eventfd
/// would not be. Changing that one registration also proves that the set under our number is still the one that we
/// made.
final class EventSet: Sendable {
    private let epoll: Descriptor
    // A socket that was never connected: always writable, and unlike an eventfd it has an inode of its own.
    private let bell: Descriptor

    static let bellKey: UInt64 = .max

    init() throws(SystemError) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw SystemError.last("cannot make an event set") }
        epoll = Descriptor(owning: number)
        let silent = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard silent >= 0 else { throw SystemError.last("cannot make a wake-up descriptor") }
        bell = Descriptor(owning: silent)
        guard control(EPOLL_CTL_ADD, silent, EPOLLONESHOT.rawValue, EventSet.bellKey) == 0 else {
            throw SystemError.lastWatch("cannot watch the wake-up descriptor")
        }
    }

    var number: Int32 { epoll.number }

    /// Wakes the thread that waits, or the next one to wait. From any thread. False when the host has closed what that
    /// needs.
    func ring() -> Bool {
        bell.isOurs && listenToBell(for: EPOLLOUT.rawValue)
    }

    /// True when set and bell are still those that we made. Silences the bell.
    func isOurs() -> Bool {
        bell.isOurs && listenToBell(for: 0)
    }

    func add(_ number: Int32, _ events: UInt32, _ key: UInt64) throws(SystemError) {
        if control(EPOLL_CTL_ADD, number, events, key) == 0 { return }
        // Still there from an earlier watch of the same open file.
        if bhl_errno() == EEXIST, control(EPOLL_CTL_MOD, number, events, key) == 0 { return }
        throw SystemError.lastWatch("cannot watch a descriptor")
    }

    func change(_ number: Int32, _ events: UInt32, _ key: UInt64) throws(SystemError) {
        guard control(EPOLL_CTL_MOD, number, events, key) == 0 else {
            throw SystemError.lastWatch("cannot change the watch of a descriptor")
        }
    }

    func remove(_ number: Int32) {
        _ = control(EPOLL_CTL_DEL, number, 0, 0)
    }

    /// Waits for at most so long, without limit when negative, and says how many events arrived; nil when the set is
    /// not to be used any more.
    /// Unsafe: the memory is the caller's and is used within this call only.
    func wait(_ milliseconds: Int32, into arrived: UnsafeMutableBufferPointer<epoll_event>) -> Int? {
        let count = epoll_wait(epoll.number, arrived.baseAddress, Int32(arrived.count), milliseconds)
        if count >= 0 { return Int(count) }
        return bhl_errno() == EINTR ? 0 : nil
    }

    /// To be called when the numbers belong to others: they are then closed by nobody here.
    func abandon() {
        epoll.abandon()
        bell.abandon()
    }

    private func listenToBell(for events: UInt32) -> Bool {
        control(EPOLL_CTL_MOD, bell.number, events | EPOLLONESHOT.rawValue, EventSet.bellKey) == 0
    }

    private func control(_ operation: Int32, _ number: Int32, _ events: UInt32, _ key: UInt64) -> Int32 {
        var event = epoll_event(events: events, data: epoll_data_t(u64: key))
        return epoll_ctl(epoll.number, operation, number, &event)
    }
}
