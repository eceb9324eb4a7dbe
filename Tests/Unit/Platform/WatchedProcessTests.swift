import BackhaulPlatform
import Glibc
import Testing

@Suite("A watched process")
struct WatchedProcessTests {
    /// Starts a script as a detached process, in a new session (setsid(2)).
    private func start(_ script: String) throws -> ProcessIdentity {
        let process = try DetachedProcess.start(
            program: "/bin/sh", arguments: ["-c", script], environment: ["PATH=/usr/bin:/bin"])
        return try #require(ProcessIdentity.of(processID: process.processID))
    }

    private func waitForEnd(of process: WatchedProcess) -> Bool {
        let deadline = Deadline.after(milliseconds: 60_000)
        while !deadline.hasPassed {
            if process.hasEnded { return true }
            usleep(5_000)
        }
        return false
    }

    @Test("a watched process has a descriptor that becomes readable when the process ends")
    func ends() throws {
        let process = try #require(WatchedProcess(try start("exec sleep 600")))
        #expect(!process.hasEnded)
        let descriptor = try #require(process.descriptor)
        var item = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        #expect(poll(&item, 1, 0) == 0)
        process.kill()
        #expect(poll(&item, 1, 60_000) == 1)
        #expect(process.hasEnded)
    }

    @Test("`terminate` ends a watched process together with its child processes")
    func group() throws {
        let process = try #require(WatchedProcess(try start("sleep 600 & sleep 600")))
        let group = getpgid(process.identity.processID)
        #expect(group != getpgrp())
        process.terminate()
        #expect(waitForEnd(of: process))
        let deadline = Deadline.after(milliseconds: 60_000)
        while kill(-group, 0) == 0, !deadline.hasPassed { usleep(5_000) }
        #expect(kill(-group, 0) == -1)
    }

    @Test("a process that has ended cannot be watched, even if a later process has the same id")
    func another() throws {
        var identity = try start("exec sleep 600")
        #expect(kill(identity.processID, SIGKILL) == 0)
        let deadline = Deadline.after(milliseconds: 60_000)
        while identity.isAlive, !deadline.hasPassed { usleep(5_000) }
        #expect(WatchedProcess(identity) == nil)
        identity = .current
        identity.startTime += 1
        #expect(WatchedProcess(identity) == nil)
    }

    @Test("if a watched process in the test's own process group is killed, the test's process continues")
    func own() throws {
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("600"), nil]
        defer { arguments.forEach { free($0) } }
        #expect(posix_spawn(&process, "/bin/sleep", nil, nil, &arguments, nil) == 0)
        let watched = try #require(ProcessIdentity.of(processID: process).flatMap(WatchedProcess.init))
        watched.kill()
        var status: Int32 = 0
        #expect(waitpid(process, &status, 0) == process)
        #expect(status & 0x7F == SIGKILL)
    }
}
