import Glibc
import TestSupport
import Testing

@testable import BackhaulPlatform

/// The *identity* of a process is its process id, its start time, and the id of the boot in which the process started.
@Suite struct ProcessIdentityTests {
    /// Starts `sleep` and returns its process id.
    private func startChild() throws -> pid_t {
        var child: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("600"), nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawnp(&child, "sleep", nil, nil, &arguments, environ) == 0)
        return child
    }

    @Test("this process is alive and always has the same identity")
    func current() {
        #expect(ProcessIdentity.current.isAlive)
        #expect(ProcessIdentity.current == .current)
        #expect(ProcessIdentity.current.processID == getpid())
        #expect(ProcessIdentity.current.startTime > 0)
    }

    @Test("a process with the same id, but with a later start or in another boot, is another process")
    func laterProcess() {
        var other = ProcessIdentity.current
        other.startTime += 1
        #expect(!other.isAlive)
        var rebooted = ProcessIdentity.current
        rebooted.bootID = "another boot"
        #expect(!rebooted.isAlive)
    }

    @Test("a killed process is not alive, even before it is reaped")
    func killed() throws {
        let child = try startChild()
        let identity = try #require(ProcessIdentity.of(processID: child))
        #expect(identity.isAlive)
        #expect(kill(child, SIGKILL) == 0)
        var status = siginfo_t()
        #expect(waitid(P_PID, id_t(child), &status, WEXITED | WNOWAIT) == 0)
        #expect(!identity.isAlive)
        #expect(waitpid(child, nil, 0) == child)
        #expect(!identity.isAlive)
        #expect(ProcessIdentity.of(processID: child) == nil)
    }

    @Test("a living process is alive, and an ended process is not, also when no descriptor is free")
    func noDescriptor() throws {
        let child = try startChild()
        let identity = try #require(ProcessIdentity.of(processID: child))
        #expect(withoutFreeDescriptors { identity.isAlive })
        #expect(kill(child, SIGKILL) == 0 && waitpid(child, nil, 0) == child)
        #expect(withoutFreeDescriptors { !identity.isAlive })
    }

    @Test("a stopped process is alive and reported as stopped")
    func stopped() throws {
        let child = try startChild()
        defer {
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
        }
        #expect(!ProcessIdentity.isStopped(processID: child))
        #expect(kill(child, SIGSTOP) == 0)
        #expect(waitpid(child, nil, WUNTRACED) == child)
        #expect(ProcessIdentity.isStopped(processID: child))
        #expect(ProcessIdentity.of(processID: child)?.isAlive == true)
    }

    @Test(
        "the fields of a process's status begin after its name, which may have any characters",
        arguments: ["sleep", "a) S 1 (b", ") ", "", "x\u{600}", "x\u{301}"])
    func name(_ name: String) {
        #expect(ProcessIdentity.fields(ofStatus: "7 (\(name)) S 1 7") == ["S", "1", "7"])
    }

    @Test("the boot id has 36 characters")
    func bootID() {
        #expect(ProcessIdentity.currentBootID.utf8.count == 36)
    }

    @Test("impossible process ids have no identity", arguments: [-1, 0, Int32.max])
    func impossible(processID: Int32) {
        #expect(ProcessIdentity.of(processID: processID) == nil)
    }
}
