internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// An epoll set that this library makes itself, without libuv. The functions of this class return errors, but libuv
/// would abort the process.
///
/// The set contains a waker: a descriptor that is always ready, but registered without events. To wake the waiting
/// thread, `wake` registers an event for the waker. The event occurs one time. The registration takes one system call,
/// and nothing has to be read afterwards. `wake` never writes into a file of the host, the program that embeds the
/// library. If the host has closed the waker and reused its number, the kernel refuses the registration. With an
/// eventfd as the waker, `wake` would write into the host's file instead. The registration also proves that the
/// descriptor number of the set still belongs to this set.
final class EpollSet: Sendable {
    private let epoll: Descriptor
    // A socket that is never connected. It is always writable. It has its own inode. If another file gets the
    // descriptor's number, `isOurs` detects this by the other inode. An eventfd could not be recognized, because all
    // eventfds share one inode.
    private let waker: Descriptor

    static let wakerKey: UInt64 = .max

    init() throws(SystemError) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw SystemError.last("cannot make an event set") }
        epoll = Descriptor(owning: number)
        let silent = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard silent >= 0 else { throw SystemError.last("cannot make a wake-up descriptor") }
        waker = Descriptor(owning: silent)
        guard control(EPOLL_CTL_ADD, silent, EPOLLONESHOT.rawValue, EpollSet.wakerKey) == 0 else {
            throw SystemError.lastWatch("cannot watch the wake-up descriptor")
        }
    }

    var number: Int32 { epoll.number }

    /// Wakes the waiting thread. If no thread waits now, the next wait ends immediately. Any thread may call this
    /// function. Returns false when the host has closed a needed descriptor.
    func wake() -> Bool {
        waker.isOurs && armWaker(for: EPOLLOUT.rawValue)
    }

    /// Whether the set and the waker still belong to this object. The check also disarms the waker.
    func isOurs() -> Bool {
        waker.isOurs && armWaker(for: 0)
    }

    func add(_ number: Int32, _ events: UInt32, _ key: UInt64) throws(SystemError) {
        if control(EPOLL_CTL_ADD, number, events, key) == 0 { return }
        // The descriptor may still be registered by an earlier watch of the same open file.
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

    /// Waits for at most this many milliseconds. A negative number means no limit. Returns the number of events; nil if
    /// the set cannot be used any more.
    /// Unsafe: the memory belongs to the caller and is used within this call only.
    func wait(_ milliseconds: Int32, into arrived: UnsafeMutableBufferPointer<epoll_event>) -> Int? {
        let count = epoll_wait(epoll.number, arrived.baseAddress, Int32(arrived.count), milliseconds)
        if count >= 0 { return Int(count) }
        return bhl_errno() == EINTR ? 0 : nil
    }

    /// Gives up the descriptors without closing them. This function must be called when the numbers of the descriptors
    /// belong to other files.
    func abandon() {
        epoll.abandon()
        waker.abandon()
    }

    private func armWaker(for events: UInt32) -> Bool {
        control(EPOLL_CTL_MOD, waker.number, events | EPOLLONESHOT.rawValue, EpollSet.wakerKey) == 0
    }

    private func control(_ operation: Int32, _ number: Int32, _ events: UInt32, _ key: UInt64) -> Int32 {
        var event = epoll_event(events: events, data: epoll_data_t(u64: key))
        return epoll_ctl(epoll.number, operation, number, &event)
    }
}
