import Glibc
import Testing

@testable import BackhaulPlatform

/// A *wake-up* is a descriptor of eventfd(2), by which one thread wakes another thread.
@Suite(.serialized) struct EventFDTests {
    private func isReadable(_ wake: EventFD) -> Bool {
        var item = pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) == 1
    }

    @Test("a wake-up is readable from the first `set` until `clear`, even after a second `set`")
    func levels() throws {
        let wake = try EventFD()
        #expect(!isReadable(wake))
        wake.set()
        wake.set()
        #expect(isReadable(wake))
        #expect(isReadable(wake))
        wake.clear()
        #expect(!isReadable(wake))
        wake.clear()
        wake.set(true)
        #expect(isReadable(wake))
        wake.set(false)
        #expect(!isReadable(wake))
    }

    @Test("the descriptor of a wake-up is closed on exec")
    func closesOnExec() throws {
        let wake = try EventFD()
        #expect(fcntl(wake.number, F_GETFD) & FD_CLOEXEC != 0)
    }
}
