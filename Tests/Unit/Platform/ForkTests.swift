import CForkGate
import Glibc
import Testing

@testable import BackhaulPlatform

// The Glibc module hides fork(2), because a forked child may call only a few functions. The children of these tests
// make only async-signal-safe calls.
@_silgen_name("fork") private func forkProcess() -> Int32

/// Runs `body` in a forked child, and returns its exit status. `body` may only make async-signal-safe calls.
private func statusOfChild(_ body: () -> Int32) -> Int32? {
    let child = forkProcess()
    if child == 0 { _exit(body()) }
    var status: Int32 = 0
    guard child > 0, waitpid(child, &status, 0) == child, status & 0x7F == 0 else { return nil }
    return status >> 8
}

/// Returns whether the descriptor number refers to the same file in a forked child as in this process. It is not enough
/// to check whether the number is open in the child: libuv, which other tests of this process use, opens a new pipe in
/// every child, and the pipe gets the lowest free numbers.
private func isOpenInChild(_ number: Int32) -> Bool? {
    guard let file = FileIdentity(of: number) else { return nil }
    return statusOfChild { FileIdentity(of: number) == file ? 1 : 0 }.map { $0 == 1 }
}

private func openNull() throws -> Int32 {
    let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
    try #require(number >= 0)
    return number
}

/// *Our descriptors* are the open descriptors of Backhaul. `ForkGuard.add` registers a descriptor that another library
/// has opened, and `ForkGuard.remove` ends the registration. A *process stamp* is a value by which code recognises that
/// it runs in a forked child.
@Suite(.serialized) struct ForkTests {
    @Test("one of our descriptors is closed in a forked child, but stays open in the parent")
    func closedInChild() throws {
        let descriptor = Descriptor(owning: try openNull())
        let number = descriptor.number
        #expect(isOpenInChild(number) == false)
        #expect(descriptor.isOurs)
    }

    @Test("if the program puts its own file at the number of our descriptor, this file stays open in a forked child")
    func hostsOwnInChild() throws {
        let descriptor = Descriptor(owning: try openNull())
        let number = descriptor.number
        var pipes: [Int32] = [0, 0]
        #expect(pipe(&pipes) == 0)
        #expect(dup2(pipes[0], number) == number)
        #expect(isOpenInChild(number) == true)
        #expect(!descriptor.isOurs)
        for number in pipes + [number] { close(number) }
    }

    @Test("after `abandon`, our descriptor stays open in a forked child")
    func removed() throws {
        let number = try openNull()
        let descriptor = Descriptor(owning: number)
        descriptor.abandon()
        #expect(isOpenInChild(number) == true)
        close(number)
    }

    @Test("after `add` and before `remove`, another library's descriptor is closed in each forked child")
    func ofLibrary() throws {
        let number = try openNull()
        ForkGuard.add(number)
        #expect(isOpenInChild(number) == false)
        ForkGuard.remove(number)
        #expect(isOpenInChild(number) == true)
        close(number)
    }

    @Test("after `add` and `remove` with the number of our descriptor, a forked child still closes this descriptor")
    func takenForLibrarys() throws {
        let descriptor = Descriptor(owning: try openNull())
        let number = descriptor.number
        ForkGuard.add(number)
        ForkGuard.remove(number)
        #expect(descriptor.isOurs)
        #expect(isOpenInChild(number) == false)
    }

    @Test("our descriptors with high numbers are closed in a forked child")
    func greatNumbers() throws {
        let low = try openNull()
        defer { close(low) }
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let target = Int32(min(limit.rlim_cur, 100_000)) - 1
        try #require(dup2(low, target) == target)
        let descriptor = Descriptor(owning: target)
        #expect(isOpenInChild(target) == false)
        #expect(descriptor.isOurs)
    }

    @Test("a file lock ends when the parent closes the locked file, even while a forked child runs")
    func lockClosedByParent() throws {
        var template = Array("/tmp/backhaul-lock-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        defer { unlink(template) }
        let descriptor = Descriptor(owning: file)
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        #expect(withUnsafeMutablePointer(to: &lock) { fcntl(descriptor.number, setOpenFileLock, $0) } == 0)
        var ready: [Int32] = [0, 0]
        var finish: [Int32] = [0, 0]
        #expect(pipe(&ready) == 0 && pipe(&finish) == 0)
        let child = forkProcess()
        if child == 0 {
            var byte: UInt8 = 1
            close(finish[1])
            write(ready[1], &byte, 1)
            read(finish[0], &byte, 1)
            _exit(0)
        }
        var byte: UInt8 = 0
        #expect(read(ready[0], &byte, 1) == 1)
        // The parent's copy is closed while the child runs.
        close(descriptor.number)
        let other = open(template, O_RDWR | O_CLOEXEC)
        // If another test starts a program now, the child of that test has a copy of the descriptor until its exec. So
        // the lock may end a short time after the close. If the child of this test had a copy, the lock would stay
        // until this child ends.
        let deadline = Deadline.after(milliseconds: 5_000)
        while withUnsafeMutablePointer(to: &lock, { fcntl(other, setOpenFileLock, $0) }) != 0 {
            guard !deadline.hasPassed else {
                Issue.record("the child keeps the lock")
                break
            }
            usleep(1_000)
        }
        for number in [other] + ready + finish { close(number) }
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child)
    }

    @Test("a process stamp differs between a process and its forked child")
    func stamp() {
        let stamp = ProcessStamp.current
        #expect(stamp == .current)
        #expect(statusOfChild { stamp == .current ? 1 : 0 } == 0)
    }

    @Test("a fork waits while another thread computes a type or a global value of Swift")
    func computation() throws {
        bhl_set_longest_fork_wait(300_000)
        defer { bhl_set_longest_fork_wait(200) }
        let state = Lock((isComputing: false, isForking: false, hasEnded: false))
        let thread = try Thread(name: "computing") {
            bhl_computation_begins()
            state.change { $0.isComputing = true }
            state.wait(until: nil) { $0.isForking ? () : nil }
            state.change { $0.hasEnded = true }
            bhl_computation_ends()
        }
        state.wait(until: nil) { $0.isComputing ? () : nil }
        forksOfTest.change { $0 = { state.change { $0.isForking = true } } }
        // This handler runs before the library's fork handler, because it is registered later.
        pthread_atfork({ forksOfTest.withLock(\.self)?() }, nil, nil)
        let status = statusOfChild { state.withLock(\.hasEnded) ? 7 : 8 }
        forksOfTest.change { $0 = nil }
        #expect(status == 7)
        thread.join()
    }

    @Test("a forked child does not wait for a thread that exists only in its parent")
    func joinInChild() throws {
        let isReleased = Lock(false)
        let thread = try Thread(name: "waiting") { isReleased.wait(until: nil) { $0 ? () : nil } }
        let status = statusOfChild {
            thread.join()
            return 7
        }
        #expect(status == 7)
        isReleased.change { $0 = true }
        thread.join()
    }
}

/// A closure that the fork handler of the test `computation` calls when a fork begins. Nil during other tests.
private let forksOfTest = Lock<(@Sendable () -> Void)?>(nil)

/// F_OFD_SETLK, which the Glibc module does not export.
private let setOpenFileLock: Int32 = 37
