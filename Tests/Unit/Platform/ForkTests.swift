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

/// Returns a high descriptor number. The files that other tests open get lower numbers.
private func highNumber(_ fromTheEnd: Int32) throws -> Int32 {
    var limit = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    return Int32(min(limit.rlim_cur, 100_000)) - fromTheEnd
}

/// A *guarded* descriptor is one that `ForkGuard` closes in forked children.
@Suite(.serialized) struct ForkTests {
    @Test("a descriptor with `closesOnFork` is closed in a forked child, but stays open in the parent")
    func closedInChild() throws {
        let descriptor = Descriptor(owning: try openNull(), closesOnFork: true)
        let number = descriptor.number
        #expect(isOpenInChild(number) == false)
        #expect(fcntl(number, F_GETFD) >= 0)
        withExtendedLifetime(descriptor) {}
    }

    @Test("another descriptor stays open in a forked child")
    func openInChild() throws {
        let descriptor = Descriptor(owning: try openNull())
        #expect(isOpenInChild(descriptor.number) == true)
    }

    @Test("a file of the program at the former number of a guarded descriptor stays open in a forked child")
    func reusedNumber() throws {
        let (low, number) = (try openNull(), try highNumber(2))
        defer { close(low) }
        try #require(dup2(low, number) == number)
        Descriptor(owning: number, closesOnFork: true).close()
        try #require(dup2(low, number) == number)
        #expect(isOpenInChild(number) == true)
        close(number)
    }

    @Test("after `add` and before `remove`, another library's descriptor is closed in each forked child")
    func ofLibrary() throws {
        let number = try openNull()
        ForkGuard.add(number)
        #expect(isOpenInChild(number) == false)
        #expect(isOpenInChild(number) == false)
        ForkGuard.remove(number)
        #expect(isOpenInChild(number) == true)
        close(number)
    }

    @Test("guarded descriptors with high numbers are closed in a forked child")
    func highNumbers() throws {
        let (low, number) = (try openNull(), try highNumber(1))
        defer { close(low) }
        try #require(dup2(low, number) == number)
        let descriptor = Descriptor(owning: number, closesOnFork: true)
        #expect(isOpenInChild(number) == false)
        withExtendedLifetime(descriptor) {}
    }

    @Test("numbers that no descriptor can have are ignored")
    func impossibleNumbers() {
        for number in [-1, Int32.min, 1 << 20, Int32.max] {
            ForkGuard.add(number)
            ForkGuard.remove(number)
        }
    }

    @Test("a file lock ends when the parent closes the locked file, even while a forked child runs")
    func lockClosedByParent() throws {
        var template = Array("/tmp/backhaul-lock-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        defer { unlink(template) }
        let descriptor = Descriptor(owning: file, closesOnFork: true)
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
        let deadline = Deadline.after(milliseconds: 60_000)
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

    @Test("a process that has only loaded the library may fork, and its children may use the library")
    func onlyLoaded() async {
        await #expect(processExitsWith: .success) {
            #expect(isPermitted())
            #expect(statusOfChild { isPermitted() ? 1 : 0 } == 1)
            #expect(statusOfChild { statusOfChild { isPermitted() ? 1 : 0 } ?? 99 } == 1)
        }
    }

    @Test("after an application was opened, forked children and grandchildren must not use the library")
    func opened() async {
        await #expect(processExitsWith: .success) {
            ProcessOrigin.noteOpening()
            #expect(isPermitted())
            #expect(statusOfChild { isPermitted() ? 1 : 0 } == 0)
            let grandchild = statusOfChild {
                ProcessOrigin.noteOpening()
                return statusOfChild { isPermitted() ? 1 : 0 } ?? 99
            }
            #expect(grandchild == 0)
            #expect(isPermitted())
        }
    }

    @Test("a child that opens the first application may use the library, and its own children must not")
    func openedInChild() async {
        await #expect(processExitsWith: .success) {
            let status = statusOfChild {
                ProcessOrigin.noteOpening()
                return isPermitted() ? statusOfChild { isPermitted() ? 1 : 0 } ?? 99 : 98
            }
            #expect(status == 0)
        }
    }

    @Test("calls in a forked child run on a thread of their own, whose signals are blocked")
    func ownThread() async {
        await #expect(processExitsWith: .success) {
            let status = statusOfChild {
                let caller = pthread_self()
                var (isOther, mask) = (false, sigset_t())
                ProcessOrigin.perform {
                    isOther = pthread_equal(caller, pthread_self()) == 0
                    pthread_sigmask(SIG_BLOCK, nil, &mask)
                }
                return isOther && sigismember(&mask, SIGUSR1) == 1 ? 1 : 0
            }
            #expect(status == 1)
            var isOther = true
            let caller = pthread_self()
            ProcessOrigin.perform { isOther = pthread_equal(caller, pthread_self()) == 0 }
            #expect(!isOther)
        }
    }
}

/// Whether the library may be used in this process.
private func isPermitted() -> Bool {
    var hasRun = false
    return ProcessOrigin.perform { hasRun = true } && hasRun
}

/// F_OFD_SETLK, which the Glibc module does not export.
private let setOpenFileLock: Int32 = 37
