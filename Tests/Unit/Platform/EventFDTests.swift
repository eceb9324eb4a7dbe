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

    @Test("if a wake-up's descriptor is closed and its number then belongs to a file, the wake-up does not write to it")
    func takenOver() throws {
        let wake = try EventFD()
        var template = Array("/tmp/backhaul-wake-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        unlink(template)
        try #require(dup2(file, wake.number) == wake.number)
        wake.set()
        wake.clear()
        var status = stat()
        #expect(fstat(file, &status) == 0)
        #expect(status.st_size == 0)
        #expect(!wake.isOurs)
        close(wake.number)
        close(file)
    }
}
