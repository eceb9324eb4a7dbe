import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The program *attaches* a session when it opens the session by its identifier.
@Suite("Launches of an application's host")
struct LaunchControllerTests {
    let fixture = LaunchFixture()

    // MARK: When a host is launched

    @Test("if a session needs its host, the host is launched once, a second after the engine's start")
    func launches() throws {
        fixture.launches.restore([fixture.launch])
        fixture.waiting = [fixture.session()]
        try fixture.advance(milliseconds: 999)
        #expect(fixture.started == 0)
        try fixture.advance(milliseconds: 1)
        #expect(fixture.started == 1)
        #expect(fixture.info.state == .running)
        #expect(fixture.info.processID == 1_000)
        fixture.launches.check(at: LaunchFixture.name)
        try fixture.advance(milliseconds: 10_000)
        #expect(fixture.started == 1)
    }

    @Test("no host is launched while no session needs its host")
    func notNeeded() throws {
        fixture.launches.restore([fixture.launch])
        try fixture.advance(milliseconds: 60_000)
        #expect(fixture.started == 0)
        #expect(!fixture.launches.isBusy)
    }

    @Test("a host is launched only after the connected host has disconnected")
    func connectedHost() throws {
        fixture.launches.restore([fixture.launch])
        let host = try fixture.connect()
        fixture.waiting = [fixture.session()]
        fixture.launches.check(at: LaunchFixture.name)
        try fixture.advance(milliseconds: 60_000)
        #expect(fixture.started == 0)
        try fixture.disconnect(host)
        #expect(fixture.started == 1)
    }

    @Test("a host is launched even if an observer or another application's host is connected")
    func observers() throws {
        _ = try fixture.connect(isObserver: true)
        _ = FakeClient(fixture.clients, application: "org.other")
        try fixture.begin()
        #expect(fixture.started == 1)
    }

    @Test("no host is launched if there is no launch command, or if the command was removed")
    func removedCommand() throws {
        fixture.waiting = [fixture.session()]
        fixture.launches.check(at: LaunchFixture.name)
        try fixture.advance(milliseconds: 5_000)
        fixture.launches.registered(fixture.launch, of: LaunchFixture.name)
        fixture.launches.registered(nil, of: LaunchFixture.name)
        try fixture.advance(milliseconds: 5_000)
        #expect(fixture.started == 0)
        fixture.launches.registered(fixture.launch, of: LaunchFixture.name)
        try fixture.advance(milliseconds: 1_000)
        #expect(fixture.started == 1)
    }

    @Test("while a host runs, a new registration of its launch command does not launch a second host")
    func registeredAgain() throws {
        try fixture.begin()
        fixture.launches.registered(nil, of: LaunchFixture.name)
        try fixture.advance(milliseconds: 2_000)
        #expect(!fixture.launches.isBusy)
        fixture.launches.registered(fixture.launch, of: LaunchFixture.name)
        try fixture.advance(milliseconds: 2_000)
        #expect(fixture.started == 1)
    }

    @Test("if the store cannot write a launch, this launch is not counted, and is retried after a second")
    func storeFails() throws {
        fixture.isFull = true
        try fixture.begin()
        #expect(fixture.started == 0)
        fixture.isFull = false
        try fixture.advance(milliseconds: 1_000)
        #expect(fixture.started == 1)
        #expect(fixture.info.launches == 1)
    }

    // MARK: Backoff

    @Test("if the program attaches no session, launches are repeated after growing delays, up to a maximum number")
    func backoff() throws {
        try fixture.begin()
        for delay: Int64 in [60_000, 120_000] {
            let before = fixture.started
            fixture.process.end()
            try fixture.advance(milliseconds: 1_000)
            #expect(fixture.info.errorMessage == "the launched program ended before it attached a session")
            #expect(fixture.info.state == .due)
            try fixture.advance(milliseconds: delay - 1_000)
            #expect(fixture.started == before)
            try fixture.advance(milliseconds: 1_000)
            #expect(fixture.started == before + 1)
        }
        fixture.process.end()
        try fixture.advance(milliseconds: 7_200_000)
        #expect(fixture.started == 3)
        #expect(fixture.info.state == .gaveUp)
        #expect(!fixture.launches.isBusy)
    }

    @Test("after a host has connected without a launch, the next launch has no delay")
    func hostEndsDelay() throws {
        try fixture.begin()
        fixture.process.end()
        try fixture.advance(milliseconds: 2_000)
        let host = try fixture.connect()
        #expect(fixture.info.launches == 0)
        try fixture.disconnect(host)
        #expect(fixture.started == 2)
    }

    @Test("if a program cannot be started, the failure counts as a launch, and the launch state has the error")
    func cannotStart() throws {
        fixture.starter.failure = Failure(.internal, "no such file")
        try fixture.begin()
        #expect(fixture.started == 1)
        #expect(fixture.info.errorMessage == "the program cannot be launched: no such file")
        #expect(fixture.info.launches == 1)
        try fixture.advance(milliseconds: 59_000)
        #expect(fixture.started == 1)
        try fixture.advance(milliseconds: 1_000)
        #expect(fixture.started == 2)
    }

    @Test("a restarted engine reads the earlier launch from the store, and keeps the delay before the next launch")
    func restored() throws {
        var launch = fixture.launch
        launch.backoff.launched(now: fixture.runtime.now, LaunchPolicy(launch.command))
        launch.current = .init(token: LaunchToken(id: LaunchID(rawValue: 1), secret: 7), startedMilliseconds: 1)
        launch.current?.process = ProcessIdentity(processID: 77, startTime: 1, bootID: "boot")
        fixture.isOutstanding = true
        fixture.waiting = [fixture.session()]
        fixture.launches.restore([launch])
        try fixture.advance(milliseconds: 59_000)
        #expect(fixture.started == 0)
        #expect(fixture.info.launches == 1)
        try fixture.advance(milliseconds: 2_000)
        #expect(fixture.started == 1)
    }

    @Test("a host that connects before a restarted engine has read the store resets the count of failed launches")
    func connectedEarly() throws {
        let host = try fixture.connect()
        var launch = fixture.launch
        launch.backoff.launched(now: fixture.runtime.now, LaunchPolicy(launch.command))
        fixture.waiting = [fixture.session()]
        fixture.launches.restore([launch])
        try fixture.replyFromStore()
        #expect(fixture.info.launches == 0)
        try fixture.disconnect(host)
    }

    // MARK: The launched host

    @Test("a program that attaches no session in time gets SIGTERM, and ten seconds later SIGKILL")
    func attachTimeout() throws {
        try fixture.begin()
        _ = try fixture.connect(isLaunched: true)
        try fixture.advance(milliseconds: 59_000)
        #expect(fixture.process.signals.isEmpty)
        try fixture.advance(milliseconds: 2_000)
        #expect(fixture.process.signals == ["TERM"])
        try fixture.advance(milliseconds: 8_500)
        #expect(fixture.process.signals == ["TERM"])
        try fixture.advance(milliseconds: 2_000)
        #expect(fixture.process.signals == ["TERM", "KILL"])
        #expect(
            fixture.info.errorMessage == "the launched program attached no session within 60000 ms and was ended")
    }

    @Test("if the machine sleeps when the time to attach a session ends, the program gets the whole time again")
    func sleep() throws {
        try fixture.begin()
        _ = try fixture.connect(isLaunched: true)
        fixture.runtime.fakeClocks.bootMilliseconds += 3_600_000
        try fixture.advance(milliseconds: 59_000)
        #expect(fixture.process.signals.isEmpty)
        try fixture.advance(milliseconds: 2_000)
        #expect(fixture.process.signals == ["TERM"])
    }

    @Test("after the program has attached a session, the launch lasts while the program runs, even if it disconnects")
    func attached() throws {
        try fixture.begin()
        let host = try fixture.connect(isLaunched: true)
        try fixture.attach(host)
        try fixture.disconnect(host)
        try fixture.advance(milliseconds: 3_600_000)
        #expect(fixture.process.signals.isEmpty)
        #expect(fixture.info.state == .running)
        fixture.process.end()
        try fixture.advance(milliseconds: 1_000)
        #expect(fixture.info.errorMessage == "the launched program ended without completing its sessions")
        #expect(fixture.info.state == .due)
    }

    @Test("if a wrapper program starts the host, the launch lasts while the host is connected")
    func wrapper() throws {
        try fixture.begin()
        let host = FakeClient(fixture.clients, process: 2_000, launch: fixture.starter.tokens.last)
        fixture.launches.hostConnected(host.connection)
        fixture.process.end()
        try fixture.advance(milliseconds: 30_000)
        #expect(fixture.info.state == .running)
        #expect(fixture.started == 1)
    }

    @Test("a launched program that attaches no session is not ended while another host is connected")
    func extendsAttachTime() throws {
        try fixture.begin()
        _ = try fixture.connect(isLaunched: true)
        _ = try fixture.connect(2)
        try fixture.advance(milliseconds: 100_000)
        #expect(fixture.process.signals.isEmpty)
    }

    // MARK: Completion

    @Test("a launch ends when the host completes its session, and the next launch has no delay")
    func completion() throws {
        try fixture.begin()
        let host = try fixture.connect(isLaunched: true)
        try fixture.attach(host)
        try fixture.complete()
        try fixture.disconnect(host)
        fixture.process.end()
        try fixture.advance(milliseconds: 2_000)
        #expect(fixture.info.launches == 0)
        #expect(fixture.info.state == .none)
        #expect(!fixture.launches.isBusy)
        fixture.waiting = [fixture.session()]
        fixture.launches.check(at: LaunchFixture.name)
        try fixture.replyFromStore()
        #expect(fixture.started == 2)
    }

    @Test("if the server rejects the host's credentials, the next launch keeps its delay")
    func rejectedCredentials() throws {
        try fixture.begin()
        let host = try fixture.connect(isLaunched: true)
        try fixture.attach(host)
        try fixture.complete(isRepeated: true)
        try fixture.disconnect(host)
        #expect(fixture.info.errorMessage == "the server rejects the credentials of the launched program")
        fixture.waiting = [fixture.session()]
        fixture.launches.check(at: LaunchFixture.name)
        try fixture.advance(milliseconds: 50_000)
        #expect(fixture.started == 1)
        try fixture.advance(milliseconds: 10_000)
        #expect(fixture.started == 2)
    }

    // MARK: Stopped hosts

    @Test("a host is launched if a consumer has been stopped for longer than its session allows")
    func stoppedConsumer() throws {
        fixture.launches.restore([fixture.launch])
        let host = try fixture.connect(5)
        fixture.waiting = [fixture.session(launchIfStopped: 30_000, consumer: host.connection.process)]
        fixture.launches.eventArrived(for: host.connection)
        try fixture.advance(milliseconds: 2_000)
        fixture.stopped.numbers = [5]
        fixture.launches.eventArrived(for: host.connection)
        try fixture.advance(milliseconds: 29_500)
        #expect(fixture.started == 0)
        try fixture.advance(milliseconds: 500)
        #expect(fixture.started == 1)
    }

    @Test("no host is launched for a stopped consumer if its session does not set `launch_if_stopped_ms`")
    func patientSession() throws {
        fixture.launches.restore([fixture.launch])
        let host = try fixture.connect(5)
        fixture.stopped.numbers = [5]
        fixture.waiting = [fixture.session(consumer: host.connection.process)]
        fixture.launches.eventArrived(for: host.connection)
        try fixture.advance(milliseconds: 60_000)
        #expect(fixture.started == 0)
    }

    @Test("no host is launched if a stopped consumer continues in time")
    func continues() throws {
        fixture.launches.restore([fixture.launch])
        let host = try fixture.connect(5)
        fixture.stopped.numbers = [5]
        fixture.waiting = [fixture.session(launchIfStopped: 30_000, consumer: host.connection.process)]
        fixture.launches.eventArrived(for: host.connection)
        try fixture.advance(milliseconds: 20_000)
        fixture.stopped.numbers = []
        try fixture.advance(milliseconds: 60_000)
        #expect(fixture.started == 0)
    }
}
