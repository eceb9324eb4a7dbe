import BackhaulBus
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulUserManager

@Suite(.serialized, .enabled(if: getenv("BACKHAUL_TEST_USER_MANAGER") != nil, "Tests/Integration/manager runs these"))
struct ServiceTests {
    private let scratch = Scratch()
    private let manager: UserManager

    init() throws { manager = try #require(UserManager.connect()) }

    /// Returns a service that runs a shell script.
    private func service(_ script: String, _ arguments: [String] = [], name: String = #function) -> TransientService {
        scratch.write("#!/bin/sh\ncd '\(scratch.path)'\n\(script)\n", to: "script")
        chmod(scratch.path + "/script", 0o755)
        let letters = name.filter { $0.isLetter || $0.isNumber }
        return TransientService(
            name: "backhaul-test-\(letters).service", description: "A test, 100% $HOME",
            program: scratch.path + "/script", arguments: arguments)
    }

    /// Starts a service that the manager restarts after a second, at most `attempts` times, and kills its program.
    private func killedService(attempts: UInt32, name: String = #function) throws -> TransientService {
        var service = service("exec sleep 600", name: name)
        service.restart = .init(
            delayMilliseconds: 1_000, attempts: attempts, startLimitIntervalMilliseconds: 60_000)
        let started = try #require(try manager.startService(service).process)
        kill(started.processID, SIGKILL)
        return service
    }

    /// A line of a script that waits for the file `go`. If a script ended before its service has started, the start of
    /// the service would fail.
    private let waitForFile = "while [ ! -e go ]; do sleep 0.01; done"

    /// Returns the text that a script has written. Waits for the whole line, because the shell creates the file before
    /// it writes the line.
    private func file(_ name: String) throws -> String {
        var text: String?
        try until {
            text = contents(name); return text?.hasSuffix("\n") == true
        }
        return try #require(text)
    }

    private func contents(_ name: String) -> String? {
        guard let file = fopen(scratch.path + "/" + name, "r") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    private func until(_ condition: () throws -> Bool) throws {
        let limit = Deadline.after(milliseconds: 60_000)
        while try !condition() {
            try #require(!limit.hasPassed)
            usleep(10_000)
        }
    }

    @Test("a started service runs in its own control group until it is stopped")
    func starts() throws {
        let service = service("exec sleep 600")
        let started = try manager.startService(service)
        #expect(!started.alreadyExisted)
        let process = try #require(started.process)
        #expect(process.isAlive)
        #expect(ControlGroup.of(processID: process.processID)?.unitName == service.name)
        #expect(!ControlGroup.shared(by: getpid(), and: process.processID))
        #expect(try manager.isActive(service.name))
        #expect(try manager.stopService(service.name))
        #expect(!process.isAlive)
        #expect(try !manager.stopService(service.name))
        #expect(try manager.state(of: service.name) == nil)
    }

    @Test("a service gets the given arguments, environment and directory")
    func arguments() throws {
        let words = ["a b", "$HOME", "${HOME}", "$$", "%h", "%%", "\"q\"", "it's", "", "ü", "-x", "a\\b"]
        var service = service(
            "for word; do printf '<%s>' \"$word\"; done >new; echo \"$A|$B|$OLDPWD\" >>new; mv new said", words)
        service.environment = ["A": "a b $HOME %h", "B": "\"x\""]
        service.workingDirectory = "/usr"
        try manager.startService(service)
        #expect(try file("said") == words.map { "<\($0)>" }.joined() + "a b $HOME %h|\"x\"|/usr\n")
    }

    @Test("a failing service is restarted up to its limit of starts, and is then unloaded")
    func restarts() throws {
        var service = service("echo x >>runs; \(waitForFile); exit 1")
        service.restart = .init(delayMilliseconds: 1, attempts: 3, startLimitIntervalMilliseconds: 60_000)
        try manager.startService(service)
        scratch.write("", to: "go")
        try until { try manager.state(of: service.name) == nil }
        #expect(contents("runs") == "x\nx\nx\n")
        unlink(scratch.path + "/go")
        #expect(try !manager.startService(service).alreadyExisted)
        try manager.stopService(service.name)
    }

    @Test("a killed service is restarted; a service that succeeds or exits with an excluded code is not restarted")
    func endings() throws {
        var service = service("echo $$ >new; mv new process; exec sleep 600")
        service.restart = .init(
            delayMilliseconds: 1, attempts: 9, startLimitIntervalMilliseconds: 60_000, restartPreventExitCodes: [6])
        let first = try #require(try manager.startService(service).process)
        kill(first.processID, SIGKILL)
        try until { try manager.startService(service).process.map { $0 != first } ?? false }
        #expect(try manager.stopService(service.name))
        for code in [0, 6] {
            unlink(scratch.path + "/go")
            var service = self.service("echo x >>runs\(code); \(waitForFile); exit \(code)", name: "ends\(code)")
            service.restart = .init(
                delayMilliseconds: 1, attempts: 9, startLimitIntervalMilliseconds: 60_000, restartPreventExitCodes: [6])
            try manager.startService(service)
            scratch.write("", to: "go")
            try until { try manager.state(of: service.name) == nil }
            #expect(contents("runs\(code)") == "x\n")
        }
    }

    @Test("a start of a killed service waits for the restart of the service")
    func startBeforeRestart() throws {
        let service = try killedService(attempts: 9)
        try until { try manager.state(of: service.name) == .activating }
        let second = try manager.startService(service)
        #expect(second.alreadyExisted)
        #expect(second.process?.isAlive == true)
        try manager.stopService(service.name)
    }

    @Test("if a killed service has reached its limit of starts, a start makes the service again")
    func startAtTheLimit() throws {
        let service = try killedService(attempts: 1)
        try until { try manager.state(of: service.name) != .active }
        let second = try manager.startService(service)
        #expect(!second.alreadyExisted)
        #expect(second.process?.isAlive == true)
        try manager.stopService(service.name)
    }

    @Test("concurrent starts of one service all succeed, and only one of them starts the service")
    func atOnce() throws {
        let service = service("exec sleep 600")
        let outcomes = Lock<[StartedService?]>([])
        let threads = try (0..<8).map { number in
            try Thread(name: "starter-\(number)") {
                let outcome = UserManager.connect().flatMap { try? $0.startService(service) }
                outcomes.change { $0.append(outcome) }
            }
        }
        for thread in threads { thread.join() }
        let started = outcomes.withLock { $0 }.compactMap { $0 }
        #expect(started.count == 8)
        #expect(started.count { !$0.alreadyExisted } == 1)
        #expect(Set(started.map(\.process)).count == 1)
        try manager.stopService(service.name)
    }

    @Test("the start of a service with a missing or unusable program fails and leaves no unit")
    func missing() throws {
        var service = service("")
        service.restart = .init(delayMilliseconds: 1_000, attempts: 9, startLimitIntervalMilliseconds: 60_000)
        for program in ["/absent/program", "/etc/passwd", scratch.path] {
            service.program = program
            let failure = #expect(throws: Failure.self) { try manager.startService(service) }
            #expect(failure?.message.contains("\(program) is not there or cannot be run") == true)
            try until { try manager.state(of: service.name) == nil }
        }
        service.program = "/bin/true"
        service.workingDirectory = "/absent"
        let failure = #expect(throws: Failure.self) { try manager.startService(service) }
        #expect(failure?.message.contains("working directory") == true)
    }

    @Test("when a service has ended, its unit is unloaded, even while the starting program is still connected")
    func forgotten() throws {
        let service = service(waitForFile)
        try manager.startService(service)
        scratch.write("", to: "go")
        try until { try manager.state(of: service.name) == nil }
    }

    @Test(
        "the exit status of a process is described in words",
        arguments: [
            (1, 203, "/p is not there or cannot be run"), (1, 3, "/p ended at once, with exit code 3"),
            (2, 9, "/p ended at once, of signal 9"), (3, 11, "/p ended at once, of signal 11"), (0, 0, nil),
        ] as [(Int32, Int32, String?)])
    func endings(code: Int32, status: Int32, words: String?) {
        #expect(ExitStatus(code: code, status: status)?.clause(of: "/p") == words)
    }

    @Test("if a unit file has the name of a service, the unit of this file is started in place of the service")
    func unitFile() throws {
        let service = service("echo transient >said")
        let home = String(cString: try #require(getenv("HOME")))
        let path = home + "/.config/systemd/user/" + service.name
        let file = try #require(fopen(path, "w"))
        fputs("[Service]\nExecStart=/bin/sh -c 'echo file >\(scratch.path)/new; exec sleep 600'\n", file)
        fclose(file)
        defer { unlink(path) }
        let started = try manager.startService(service)
        #expect(started.alreadyExisted)
        #expect(started.process?.isAlive == true)
        #expect(try self.file("new") == "file\n")
        try manager.stopService(service.name)
    }

    @Test("a service can stay active until the last of its processes has ended")
    func forks() throws {
        var service = service("sleep 600 & echo $! >process")
        service.exitsWithControlGroup = true
        let started = try manager.startService(service)
        try until { started.process?.isAlive != true }
        #expect(try file("process").isEmpty == false)
        #expect(try manager.isActive(service.name))
        try manager.stopService(service.name)
    }

    @Test("a closed connection to the user manager leaves no descriptor open")
    func descriptors() throws {
        func count() -> Int { (0..<4096).count { fcntl($0, F_GETFD) >= 0 } }
        let before = count()
        for _ in 0..<300 { #expect(try UserManager.connect()?.state(of: "absent.service") == nil) }
        // The count may grow, because other tests in this process open descriptors at the same time.
        #expect(count() < before + 100)
    }

    @Test("the user manager sees the files that this process sees")
    func sees() {
        #expect(manager.sees(scratch.path) == true)
        #expect(manager.sees(scratch.path + "/absent") == nil)
        #expect(manager.version >= 200)
    }

    @Test("if the user manager is stopped, calls and new connections time out")
    func hangs() throws {
        let home = String(cString: try #require(getenv("HOME")))
        let note = try #require(fopen(home + "/manager.pid", "r"))
        defer { fclose(note) }
        var text = [UInt8](repeating: 0, count: 32)
        let count = fread(&text, 1, text.count, note)
        let process = try #require(Int32(String(decoding: text[..<count], as: UTF8.self).filter(\.isNumber)))
        let address = try #require(BusAddress.user)
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        try until { ProcessIdentity.isStopped(processID: process) }
        #expect(throws: Failure.self) { try UserManager(address: address, callTimeoutMilliseconds: 200) }
        do {
            try manager.startService(service("exec sleep 600"))
            Issue.record("a stopped manager has replied")
        } catch {
            #expect(error.status == .timeout)
        }
    }
}
