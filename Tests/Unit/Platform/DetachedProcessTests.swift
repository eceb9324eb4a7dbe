import Glibc
import Testing

@testable import BackhaulPlatform

/// Runs scripts in detached shells, and returns their output.
private final class Report {
    let path: String

    init() throws {
        var template = Array("/tmp/backhaul-detached-XXXXXX".utf8CString)
        let number = mkstemp(&template)
        try #require(number >= 0)
        close(number)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { unlink(path) }

    func of(_ script: String, environment: [String] = ["PATH=/usr/bin:/bin"]) throws -> [Substring] {
        let process = try DetachedProcess.start(
            program: "/bin/sh", arguments: ["-c", "{ \(script)\n} >'\(path)' 2>&1"], environment: environment)
        #expect(process.waitForEnd(until: .after(milliseconds: 20_000)))
        let number = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(number) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    }
}

/// A *detached* program is not a child of the process that starts it (the *starter*).
@Suite(.serialized) struct DetachedProcessTests {
    @Test("a detached program gets its arguments and exactly the given environment")
    func environment() throws {
        let output = try Report().of("/usr/bin/env | grep -v -e ^PWD= -e ^_= -e ^SHLVL=", environment: ["A=b c", "D="])
        #expect(Set(output) == ["A=b c", "D="])
    }

    @Test("the starter of a detached program has no child to reap and gets no SIGCHLD")
    func noChild() throws {
        // This thread blocks SIGCHLD. If the signal is sent, it stays pending.
        var signals = sigset_t()
        var before = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGCHLD)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let process = try DetachedProcess.start(program: "/bin/true", environment: [])
        #expect(process.waitForEnd(until: .after(milliseconds: 20_000)))
        var status: Int32 = 0
        #expect(waitpid(process.processID, &status, WNOHANG) == -1 && errno == ECHILD)
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGCHLD) == 0)
    }

    @Test("a detached program runs in another session and process group, but is not their leader")
    func session() throws {
        let output = try Report().of("cut -d ' ' -f 1,5,6 /proc/$$/stat")
        let fields = try #require(output.first).split(separator: " ").compactMap { Int32($0) }
        #expect(fields.count == 3)
        #expect(fields[1] == fields[2] && fields[1] != fields[0])
        #expect(fields[1] != getpgrp() && fields[2] != getsid(0))
    }

    @Test("a detached program inherits no descriptor, not even one that has a high number and no close-on-exec")
    func descriptors() throws {
        let low = open("/dev/null", O_RDONLY)
        try #require(low >= 0)
        defer { close(low) }
        let high = dup2(low, 900)
        defer { close(high) }
        // `ls` itself opens descriptor 3 to list the directory.
        let output = try Report().of("exec ls /proc/self/fd")
        #expect(Set(output) == ["0", "1", "2", "3"])
        #expect(try Report().of("readlink /proc/$$/fd/0") == ["/dev/null"])
    }

    @Test("no signal is blocked or ignored in a detached program, even if its starter blocks or ignores signals")
    func signals() throws {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let handler = signal(SIGUSR2, SIG_IGN)
        defer {
            signal(SIGUSR2, handler)
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        // The test reads the status of grep, because a shell changes its own signals.
        let output = try Report().of("exec grep -e SigBlk -e SigIgn /proc/self/status")
        #expect(output == ["SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"])
        var now = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &now)
        #expect(sigismember(&now, SIGUSR1) == 1)
    }

    @Test("a detached program does not inherit the umask or the working directory of its starter")
    func places() throws {
        #expect(try Report().of("umask; pwd") == ["0022", "/"])
    }

    @Test("if a program is missing, its start fails with the kernel's error")
    func noProgram() {
        let error = #expect(throws: SystemError.self) {
            _ = try DetachedProcess.start(program: "/no/such/program", environment: [])
        }
        #expect(error?.code == ENOENT)
        #expect(error?.description == "/no/such/program cannot be run: No such file or directory")
    }

    @Test("if the working directory of a program is missing, the error message has the directory's path")
    func noDirectory() {
        let error = #expect(throws: SystemError.self) {
            _ = try DetachedProcess.start(program: "/bin/true", environment: [], workingDirectory: "/no/such")
        }
        let sentence = "/bin/true cannot be started in the directory /no/such: No such file or directory"
        #expect(error?.description == sentence)
    }

    @Test("the starter can read what a program has written to stderr")
    func errors() throws {
        let process = try DetachedProcess.start(
            program: "/bin/sh", arguments: ["-c", "echo out; echo wrong >&2"], environment: [], keepsErrors: true)
        #expect(process.waitForEnd(until: .after(milliseconds: 20_000)))
        #expect(process.errorText == "wrong\n")
    }

    @Test("`kill` ends a detached program together with its child processes")
    func kills() throws {
        let process = try DetachedProcess.start(
            program: "/bin/sh", arguments: ["-c", "sleep 600 & echo started >&2; wait"],
            environment: ["PATH=/usr/bin:/bin"], keepsErrors: true)
        let deadline = Deadline.after(milliseconds: 20_000)
        while process.errorText.isEmpty, !deadline.hasPassed { usleep(5_000) }
        let group = getpgid(process.processID)
        #expect(kill(-group, 0) == 0)
        process.kill()
        #expect(process.waitForEnd(until: deadline))
        while kill(-group, 0) == 0, !deadline.hasPassed { usleep(5_000) }
        #expect(kill(-group, 0) == -1)
    }

    @Test("on a kernel without pidfds, the starter waits for the end of a detached program, too")
    func withoutDescriptor() throws {
        func start(_ script: String) throws -> DetachedProcess {
            let process = try DetachedProcess.start(program: "/bin/sh", arguments: ["-c", script], environment: [])
            return DetachedProcess(
                processID: process.processID, descriptor: nil, identity: process.identity, errors: nil)
        }
        #expect(try start("exec /bin/sleep 0.3").waitForEnd(until: .after(milliseconds: 20_000)))
        let endless = try start("exec /bin/sleep 600")
        #expect(!endless.hasEnded)
        #expect(!endless.waitForEnd(until: .after(milliseconds: 50)))
        endless.kill()
        #expect(endless.waitForEnd(until: .after(milliseconds: 20_000)))
    }

    @Test("a failed start of a program leaves no descriptor open")
    func nothingLeft() {
        func openCount() -> Int { (0..<1_024).count { fcntl(Int32($0), F_GETFD) >= 0 } }
        let before = openCount()
        for _ in 0..<300 { _ = try? DetachedProcess.start(program: "/no/such/program", environment: []) }
        // The count may grow a little, because other tests open descriptors at the same time.
        #expect(openCount() < before + 200)
    }

    @Test("many threads may start programs at the same time")
    func manyThreads() throws {
        let started = Lock(0)
        let threads = try (0..<8).map { _ in
            try Thread(name: "starter") {
                for _ in 0..<20 {
                    let process = try? DetachedProcess.start(program: "/bin/true", environment: [])
                    if process?.waitForEnd(until: .after(milliseconds: 20_000)) == true { started.withLock { $0 += 1 } }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(started.withLock { $0 } == 160)
    }
}
