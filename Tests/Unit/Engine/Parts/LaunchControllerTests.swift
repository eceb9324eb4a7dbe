import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Launches of an application's host")
struct LaunchControllerTests {
    let world = LaunchWorld()

    // MARK: When a host is launched

    @Test("begin one at a time, a second after the engine, when a session needs its host")
    func launches() throws {
        world.launches.restore([world.launch])
        world.waiting = [world.session()]
        try world.pass(milliseconds: 999)
        #expect(world.started == 0)
        try world.pass(milliseconds: 1)
        #expect(world.started == 1)
        #expect(world.info.state == .running)
        #expect(world.info.processID == 1_000)
        world.launches.look(at: LaunchWorld.name)
        try world.pass(milliseconds: 10_000)
        #expect(world.started == 1)
    }

    @Test("do not begin while no session needs the host")
    func notNeeded() throws {
        world.launches.restore([world.launch])
        try world.pass(milliseconds: 60_000)
        #expect(world.started == 0)
        #expect(!world.launches.isBusy)
    }

    @Test("do not begin while a host is connected, and begin when it disconnects")
    func connectedHost() throws {
        world.launches.restore([world.launch])
        let host = try world.connect()
        world.waiting = [world.session()]
        world.launches.look(at: LaunchWorld.name)
        try world.pass(milliseconds: 60_000)
        #expect(world.started == 0)
        try world.disconnect(host)
        #expect(world.started == 1)
    }

    @Test("begin even if an observer or another application's host is connected")
    func observers() throws {
        _ = try world.connect(isObserver: true)
        _ = FakeClient(world.clients, application: "org.other")
        try world.begin()
        #expect(world.started == 1)
    }

    @Test("do not begin without a command or with a removed one")
    func removedCommand() throws {
        world.waiting = [world.session()]
        world.launches.look(at: LaunchWorld.name)
        try world.pass(milliseconds: 5_000)
        world.launches.registered(world.launch, of: LaunchWorld.name)
        world.launches.registered(nil, of: LaunchWorld.name)
        try world.pass(milliseconds: 5_000)
        #expect(world.started == 0)
        world.launches.registered(world.launch, of: LaunchWorld.name)
        try world.pass(milliseconds: 1_000)
        #expect(world.started == 1)
    }

    @Test("are not repeated when the command is registered again while the host runs")
    func registeredAgain() throws {
        try world.begin()
        world.launches.registered(nil, of: LaunchWorld.name)
        try world.pass(milliseconds: 2_000)
        #expect(!world.launches.isBusy)
        world.launches.registered(world.launch, of: LaunchWorld.name)
        try world.pass(milliseconds: 2_000)
        #expect(world.started == 1)
    }

    @Test("are retried a second later, without being counted, when the store cannot write them")
    func storeFails() throws {
        world.isFull = true
        try world.begin()
        #expect(world.started == 0)
        world.isFull = false
        try world.pass(milliseconds: 1_000)
        #expect(world.started == 1)
        #expect(world.info.launches == 1)
    }

    // MARK: Backoff

    @Test("are repeated after growing delays, up to the maximum, when the program does not attach")
    func backoff() throws {
        try world.begin()
        for delay: Int64 in [60_000, 120_000] {
            let before = world.started
            world.process.end()
            try world.pass(milliseconds: 1_000)
            #expect(world.info.errorMessage == "the launched program ended before it attached a session")
            #expect(world.info.state == .due)
            try world.pass(milliseconds: delay - 1_000)
            #expect(world.started == before)
            try world.pass(milliseconds: 1_000)
            #expect(world.started == before + 1)
        }
        world.process.end()
        try world.pass(milliseconds: 7_200_000)
        #expect(world.started == 3)
        #expect(world.info.state == .gaveUp)
        #expect(!world.launches.isBusy)
    }

    @Test("begin without a delay after a host has connected without a launch")
    func hostEndsDelay() throws {
        try world.begin()
        world.process.end()
        try world.pass(milliseconds: 2_000)
        let host = try world.connect()
        #expect(world.info.launches == 0)
        try world.disconnect(host)
        #expect(world.started == 2)
    }

    @Test("of a program that cannot be started are counted, with the error")
    func cannotStart() throws {
        world.starter.failure = Failure(.internal, "no such file")
        try world.begin()
        #expect(world.started == 1)
        #expect(world.info.errorMessage == "the program cannot be launched: no such file")
        #expect(world.info.launches == 1)
        try world.pass(milliseconds: 59_000)
        #expect(world.started == 1)
        try world.pass(milliseconds: 1_000)
        #expect(world.started == 2)
    }

    @Test("continue the launch of an earlier engine, and count it when its host has ended")
    func restored() throws {
        var launch = world.launch
        launch.backoff.launched(now: world.runtime.now, LaunchPolicy(launch.command))
        launch.current = .init(token: LaunchToken(id: LaunchID(rawValue: 1), secret: 7), startedMilliseconds: 1)
        launch.current?.process = ProcessIdentity(processID: 77, startTime: 1, bootID: "boot")
        world.isOutstanding = true
        world.waiting = [world.session()]
        world.launches.restore([launch])
        try world.pass(milliseconds: 59_000)
        #expect(world.started == 0)
        #expect(world.info.launches == 1)
        try world.pass(milliseconds: 2_000)
        #expect(world.started == 1)
    }

    // MARK: The launched host

    @Test("end with SIGTERM, and ten seconds later SIGKILL, when the program attaches no session in time")
    func attachTimeout() throws {
        try world.begin()
        _ = try world.connect(isLaunched: true)
        try world.pass(milliseconds: 59_000)
        #expect(world.process.signals.isEmpty)
        try world.pass(milliseconds: 2_000)
        #expect(world.process.signals == ["TERM"])
        try world.pass(milliseconds: 8_500)
        #expect(world.process.signals == ["TERM"])
        try world.pass(milliseconds: 2_000)
        #expect(world.process.signals == ["TERM", "KILL"])
        #expect(
            world.info.errorMessage == "the launched program attached no session within 60000 ms and was ended")
    }

    @Test("last while the program that has attached runs, connected or not")
    func attached() throws {
        try world.begin()
        let host = try world.connect(isLaunched: true)
        try world.attach(host)
        try world.disconnect(host)
        try world.pass(milliseconds: 3_600_000)
        #expect(world.process.signals.isEmpty)
        #expect(world.info.state == .running)
        world.process.end()
        try world.pass(milliseconds: 1_000)
        #expect(world.info.errorMessage == "the launched program ended without completing its sessions")
        #expect(world.info.state == .due)
    }

    @Test("last while a host is connected that a wrapper program has started")
    func wrapper() throws {
        try world.begin()
        let host = FakeClient(world.clients, process: 2_000, launch: world.starter.tokens.last)
        world.launches.hostCame(host.connection)
        world.process.end()
        try world.pass(milliseconds: 30_000)
        #expect(world.info.state == .running)
        #expect(world.started == 1)
    }

    @Test("do not end a program that attaches no session because another host has it")
    func extendsAttachTime() throws {
        try world.begin()
        _ = try world.connect(isLaunched: true)
        _ = try world.connect(2)
        try world.pass(milliseconds: 100_000)
        #expect(world.process.signals.isEmpty)
    }

    // MARK: Completion

    @Test("end with the completion, and the next one begins without a delay")
    func completion() throws {
        try world.begin()
        let host = try world.connect(isLaunched: true)
        try world.attach(host)
        try world.complete()
        try world.disconnect(host)
        world.process.end()
        try world.pass(milliseconds: 2_000)
        #expect(world.info.launches == 0)
        #expect(world.info.state == .none)
        #expect(!world.launches.isBusy)
        world.waiting = [world.session()]
        world.launches.look(at: LaunchWorld.name)
        try world.answer()
        #expect(world.started == 2)
    }

    @Test("keep their delay when the host's credentials are refused")
    func inVain() throws {
        try world.begin()
        let host = try world.connect(isLaunched: true)
        try world.attach(host)
        try world.complete(isRepeated: true)
        try world.disconnect(host)
        #expect(world.info.errorMessage == "the server rejects the credentials of the launched program")
        world.waiting = [world.session()]
        world.launches.look(at: LaunchWorld.name)
        try world.pass(milliseconds: 50_000)
        #expect(world.started == 1)
        try world.pass(milliseconds: 10_000)
        #expect(world.started == 2)
    }

    // MARK: Stopped hosts

    @Test("begin when the consumer is stopped for longer than its session allows")
    func stoppedConsumer() throws {
        world.launches.restore([world.launch])
        let host = try world.connect(5)
        world.waiting = [world.session(launchIfStopped: 30_000, consumer: host.connection.process)]
        world.launches.eventCame(for: host.connection)
        try world.pass(milliseconds: 2_000)
        world.stopped.numbers = [5]
        world.launches.eventCame(for: host.connection)
        try world.pass(milliseconds: 29_500)
        #expect(world.started == 0)
        try world.pass(milliseconds: 500)
        #expect(world.started == 1)
    }

    @Test("do not begin for a stopped consumer if its session has no such option")
    func patientSession() throws {
        world.launches.restore([world.launch])
        let host = try world.connect(5)
        world.stopped.numbers = [5]
        world.waiting = [world.session(consumer: host.connection.process)]
        world.launches.eventCame(for: host.connection)
        try world.pass(milliseconds: 60_000)
        #expect(world.started == 0)
    }

    @Test("do not begin for a stopped consumer that continues in time")
    func continues() throws {
        world.launches.restore([world.launch])
        let host = try world.connect(5)
        world.stopped.numbers = [5]
        world.waiting = [world.session(launchIfStopped: 30_000, consumer: host.connection.process)]
        world.launches.eventCame(for: host.connection)
        try world.pass(milliseconds: 20_000)
        world.stopped.numbers = []
        try world.pass(milliseconds: 60_000)
        #expect(world.started == 0)
    }
}
