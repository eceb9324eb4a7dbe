import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

/// While the system does not meet the demand, the tasks wait. The *engine*, which performs the transfers, stores the
/// constraints.
@Suite("Constraints of background sessions", .timeLimit(.minutes(10)))
struct ConditionTests {
    /// Makes a session with this configuration. Returns the configuration that the engine has stored for this session.
    private func remembered(_ configuration: BackgroundURLSessionConfiguration) async throws -> SessionConfiguration {
        let session = BackgroundURLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
        // The listing `allTasks` opens the session.
        #expect(await session.allTasks.isEmpty)
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let found = try await application.attachSession(try #require(configuration.identifier), role: .observe)
        let remembered = try await found.configuration()
        session.invalidateAndCancel()
        await application.close()
        return remembered
    }

    @Test("a background session has no constraints by default")
    func nothing() async throws {
        let remembered = try await remembered(World.configuration("whenever"))
        #expect(remembered.constraints == Constraints())
        #expect(remembered.isDiscretionaryIfLaunched != true)
    }

    @Test("Apple's flags of a configuration become constraints that the engine stores for the session")
    func flags() async throws {
        let configuration = World.configuration("discretionary")
        configuration.isDiscretionary = true
        configuration.allowsCellularAccess = false
        configuration.isDiscretionaryIfLaunched = true
        configuration.waitsForConnectivity = true
        let remembered = try await remembered(configuration)
        #expect(remembered.constraints.preset == .discretionary)
        #expect(remembered.constraints.networks == NetworkKinds.all.subtracting(.cellular))
        #expect(remembered.constraints.requiresUnmetered == nil)
        #expect(remembered.isDiscretionaryIfLaunched == true)
        #expect(configuration.unhonored.isEmpty)
    }

    @Test(
        "if expensive or constrained networks are forbidden, the session requires an unmetered network",
        arguments: [true, false])
    func metered(isExpensive: Bool) async throws {
        let configuration = World.configuration("metered-\(isExpensive)")
        if isExpensive {
            configuration.allowsExpensiveNetworkAccess = false
        } else {
            configuration.allowsConstrainedNetworkAccess = false
        }
        #expect(try await remembered(configuration).constraints.requiresUnmetered == true)
    }

    @Test("the engine stores a task's earliest begin date and expected sizes")
    func task() async throws {
        let configuration = World.configuration("begin")
        let session = BackgroundURLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("slow"))
        let begin = Date(timeIntervalSince1970: 4_000_000_000)
        task.earliestBeginDate = begin
        task.countOfBytesClientExpectsToSend = 5
        task.countOfBytesClientExpectsToReceive = 6
        task.resume()
        #expect(task.state == .running)
        let id = try #require(task.engineTaskIdentifier)

        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let found = try await application.attachSession("begin", role: .observe)
        let info = try await found.task(id)
        #expect(info.earliestStartMilliseconds == 4_000_000_000_000)
        #expect(info.expectedBytesSent == 5 && info.expectedBytesReceived == 6)
        await application.close()
        session.invalidateAndCancel()
    }

    @Test("a task's earliest begin date can be changed after its first resume")
    func changedBegin() async throws {
        _ = try World.server.serve("sooner", content(10))
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("sooner"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("sooner"))
        task.earliestBeginDate = Date(timeIntervalSince1970: 4_000_000_000)
        task.resume()
        task.earliestBeginDate = Date(timeIntervalSince1970: 4_000_000_001)
        let id = try #require(task.engineTaskIdentifier)
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let info = try await application.attachSession("sooner", role: .observe).task(id)
        #expect(info.earliestStartMilliseconds == 4_000_000_001_000)
        await application.close()
        task.earliestBeginDate = nil
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        session.invalidateAndCancel()
    }

    @Test(
        "an earliest begin date has no effect if it is in the past, infinite or not a number",
        arguments: [-1, 0, .infinity, .nan] as [Double])
    func noBegin(seconds: Double) async throws {
        _ = try World.server.serve("now", content(10))
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("now\(seconds)"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("now"))
        task.earliestBeginDate = Date(timeIntervalSince1970: seconds)
        task.resume()
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        session.invalidateAndCancel()
    }
}

/// A scheduler calls its block one time in each *window*, which is a period of time. The *engine*, which also performs
/// transfers, stores the schedule.
@Suite("Activity schedulers", .timeLimit(.minutes(10)))
struct ActivitySchedulerTests {
    /// Returns the engine's activities. Each activity is the stored schedule of a scheduler of this process.
    private func activities() async throws -> [ActivityInfo] {
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let found = try await application.attachSession("backhaul-activities", role: .observe).activities()
        await application.close()
        return found
    }

    @Test("after the result `deferred`, a scheduler calls its block again; after `finished`, it does not")
    func calls() async throws {
        _ = World.configuration("unused")
        let (calls, call) = AsyncStream<BackgroundActivityScheduler.CompletionHandler>.makeStream()
        let scheduler = BackgroundActivityScheduler(identifier: "once")
        scheduler.interval = 1
        scheduler.qualityOfService = .userInitiated
        scheduler.schedule { completion in call.yield(completion) }
        #expect(scheduler.error == nil)
        var iterator = calls.makeAsyncIterator()
        let first = try #require(await iterator.next())
        first(.deferred)
        let completion = try #require(await iterator.next())
        completion(.finished)
        completion(.deferred)
        while try await activities().contains(where: { $0.identifier == "once" }) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("a repeating scheduler calls its block until the program invalidates the scheduler")
    func repeats() async throws {
        _ = World.configuration("unused")
        let (calls, call) = AsyncStream<Void>.makeStream()
        let scheduler = BackgroundActivityScheduler(identifier: "often")
        scheduler.interval = 1
        scheduler.tolerance = 0.5
        scheduler.repeats = true
        scheduler.qualityOfService = .userInitiated
        scheduler.schedule { completion in
            call.yield()
            completion(.finished)
        }
        #expect(scheduler.error == nil)
        var iterator = calls.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() != nil) }
        scheduler.invalidate()
        #expect(scheduler.error == nil)
        #expect(try await !activities().contains { $0.identifier == "often" })
        scheduler.invalidate()
        #expect(scheduler.error == nil)
    }

    @Test("if a second scheduler has the same identifier as the first one, the next window does not change")
    func again() async throws {
        _ = World.configuration("unused")
        var windows: Set<Int64> = []
        for tolerance in [10.0, 20.0] {
            let scheduler = BackgroundActivityScheduler(identifier: "daily")
            scheduler.interval = 86_400
            scheduler.tolerance = tolerance
            scheduler.repeats = true
            scheduler.schedule { completion in completion(.finished) }
            #expect(scheduler.error == nil)
            let found = try #require(try await activities().first { $0.identifier == "daily" })
            #expect(found.tolerance == .seconds(Int(tolerance)) && found.qualityOfService == .background)
            windows.insert(found.nextMilliseconds)
        }
        #expect(windows.count == 1)
    }

    @Test(
        "if the engine refuses a schedule, the scheduler has an error",
        arguments: [(0, 0), (60, 60), (.nan, 0)] as [(Double, Double)])
    func refused(interval: Double, tolerance: Double) {
        _ = World.configuration("unused")
        let scheduler = BackgroundActivityScheduler(identifier: "refused")
        scheduler.interval = interval
        scheduler.tolerance = tolerance
        scheduler.schedule { completion in
            Issue.record("It was called.")
            completion(.finished)
        }
        let error = scheduler.error as? BackhaulError
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.contains("interval") == true)
    }
}
