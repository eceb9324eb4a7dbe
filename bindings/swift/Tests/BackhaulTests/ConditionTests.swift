import Backhaul
import Foundation
import HostTestSupport
import Testing

/// While the system does not meet a constraint, the task is *held*: it waits. A *hold* is a list entry for held tasks.
/// A *wait record* shows when and why a task waited. A task does not start before its *earliest start*. After its
/// *latest start*, a task no longer waits for a preset, which is a predefined set of constraints.
@Suite("Constraints, conditions and starts", .timeLimit(.minutes(10)))
struct ConditionTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    /// Returns the message of the error `.invalidArgument` that `body` throws.
    private func refusal(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "It was taken."
        } catch let error as BackhaulError where error.status == .invalidArgument {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    @Test("a listed task has the start times, the expected sizes and the constraints of its request")
    func starts() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var request = Request(url: server.url("a"), destination: server.path("a"), startsSuspended: true)
        request.earliestStartMilliseconds = 4_000_000_000_000
        request.latestStartMilliseconds = 4_000_000_000_001
        request.expectedBytesReceived = 5
        request.expectedBytesSent = 6
        request.policy = Policy()
        request.policy?.constraints.preset = .discretionary
        request.policy?.constraints.quietHours = "22:00-06:30"
        let enqueued = try await session.enqueue([request])
        let task = try await session.task(try #require(enqueued.first).taskID)
        #expect(task.earliestStartMilliseconds == 4_000_000_000_000)
        #expect(task.latestStartMilliseconds == 4_000_000_000_001)
        #expect(task.expectedBytesReceived == 5 && task.expectedBytesSent == 6)
        #expect(task.constraints == request.policy?.constraints)
        await application.close()
    }

    @Test(
        "an invalid constraint of a session or request is refused, and the error names the field",
        arguments: [
            ("minimumBatteryPercent is 101", constraints { $0.minimumBatteryPercent = 101 }),
            ("minimumBatteryPercent is -1, which is not positive", constraints { $0.minimumBatteryPercent = -1 }),
            ("maximumCPUPressurePercent is 101", constraints { $0.maximumCPUPressurePercent = 101 }),
            ("maximumThermalState is ThermalState.critical", constraints { $0.maximumThermalState = .critical }),
            ("networks has the unknown bits 0x80", constraints { $0.networks = NetworkKinds(rawValue: 0x81) }),
            ("networks is empty", constraints { $0.networks = [] }),
            ("quietHours is \"25:00-26:00\"", constraints { $0.quietHours = "25:00-26:00" }),
            ("quietHours cover the whole week", constraints { $0.quietHours = "00:00-24:00" }),
            ("quietHours contains a NUL character", constraints { $0.quietHours = "\0" }),
        ])
    func nonsense(_ words: String, _ constraints: Constraints) async throws {
        let application = try await open()
        var configuration = SessionConfiguration(identifier: "gallery")
        configuration.constraints = constraints
        let message = await refusal { [configuration] in _ = try await application.createSession(configuration) }
        #expect(message.contains(words), "\(message)")

        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var request = Request(url: server.url("a"), destination: server.path("a"))
        request.policy = Policy()
        request.policy?.constraints = constraints
        let refused = await refusal { [request] in _ = try await session.enqueue([request]) }
        #expect(refused.contains(words), "\(refused)")
        await application.close()
    }

    @Test("a latest start is refused if it is before the earliest start or before 1970")
    func contradictions() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var request = Request(url: server.url("a"), destination: server.path("a"))
        request.earliestStartMilliseconds = 2
        request.latestStartMilliseconds = 1
        var message = await refusal { [request] in _ = try await session.enqueue([request]) }
        #expect(
            message.contains("latestStartMilliseconds") && message.contains("earliestStartMilliseconds"), "\(message)")
        request.latestStartMilliseconds = -1
        message = await refusal { [request] in _ = try await session.enqueue([request]) }
        #expect(message.contains("latestStartMilliseconds is -1"), "\(message)")
        await application.close()
    }

    @Test("an invalid setting of a network is refused, and the error names the field")
    func networks() async throws {
        let application = try await open()
        var message = await refusal { try await application.setNetwork(Network("")) }
        #expect(message.contains("name"), "\(message)")
        var network = Network("Hotspot")
        network.monthStartsOn = 29
        message = await refusal { [network] in try await application.setNetwork(network) }
        #expect(message.contains("monthStartsOn is 29"), "\(message)")
        network.monthStartsOn = 300
        message = await refusal { [network] in try await application.setNetwork(network) }
        #expect(message.contains("monthStartsOn is 300"), "\(message)")
        await application.close()
    }

    @Test(
        "an invalid activity is refused, and the error names the field",
        arguments: [
            ("tolerance in milliseconds is 5000", activity { $0.tolerance = .seconds(5) }),
            ("interval in milliseconds is 999", activity { $0.interval = .milliseconds(999) }),
            ("interval is 0, which is not positive", activity { $0.interval = .zero }),
            ("firstMilliseconds is -1", activity { $0.firstMilliseconds = -1 }),
            ("identifier", activity { $0.identifier = "" }),
            ("idempotencyKey", activity { $0.request = Request(url: "http://a/", idempotencyKey: "k") }),
            ("ExistsPolicy.replace", activity { $0.request = Request(url: "http://a/", destination: "/a") }),
            (
                "earliestStartMilliseconds",
                activity {
                    $0.request = Request(url: "http://a/")
                    $0.request?.earliestStartMilliseconds = 1
                }
            ),
        ])
    func activities(_ words: String, _ activity: Activity) async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let message = await refusal { try await session.setActivity(activity) }
        #expect(message.contains(words), "\(message)")
        await application.close()
    }

    @Test("each condition is listed with its source; while there are no tasks, no hold is listed")
    func conditions() async throws {
        let application = try await open()
        let found = try await application.conditions()
        #expect(Set(found.map(\.kind)) == Set(Condition.Kind.allCases) && found.count == Condition.Kind.allCases.count)
        #expect(found.allSatisfy { !$0.text.isEmpty && !$0.source.isEmpty })
        #expect(try await application.holds().isEmpty)
        await application.close()
    }

    @Test("while a task waits for its earliest start, its reason has this time, and its wait record has no end")
    func waits() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var request = Request(url: server.url("a"), destination: server.path("a"))
        request.earliestStartMilliseconds = 4_000_000_000_000
        let id = try #require(try await session.enqueue([request]).first).taskID
        let reason = try #require(try await session.task(id).reason)
        #expect(reason.code == .earliestStart && reason.nextAttemptMilliseconds == 4_000_000_000_000)
        let waits = try await session.waits(id)
        #expect(waits.map(\.code) == [.earliestStart] && waits.map(\.endedMilliseconds) == [nil])
        await application.close()
    }

    @Test("a task can be rescheduled, but a latest start before the earliest start is refused")
    func rescheduled() async throws {
        _ = try server.serve("scheduled", content(10))
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let path = server.path("scheduled")
        let request = Request(url: server.url("scheduled"), destination: path, startsSuspended: true)
        let id = try #require(try await session.enqueue([request]).first).taskID
        #expect(try await session.task(id).constraints == Constraints())
        let start = StartChange.at(4_000_000_000_000)
        #expect(try await session.reschedule(.ids(id), earliestStart: start, latestStart: start) == 1)
        #expect(try await session.reschedule(.ids(id), earliestStart: start) == 0)
        let task = try await session.task(id)
        #expect(task.earliestStartMilliseconds == 4_000_000_000_000)
        #expect(task.latestStartMilliseconds == 4_000_000_000_000)
        let error = await #expect(throws: BackhaulError.self) {
            try await session.reschedule(.ids(id), latestStart: .at(3_999_999_999_999))
        }
        #expect(error?.status == .invalidArgument && error?.message.contains("task \(id) ") == true)
        try await session.resume(.ids(id))
        #expect(try await session.task(id).reason?.code == .earliestStart)
        try await session.reschedule(.ids(id), earliestStart: .removed)
        for try await event in session.events {
            if case .taskEnded(let ending) = event { #expect(ending.outcome == .succeeded(path: path)) }
            try await session.acknowledge(event)
            if case .sessionFinished = event { break }
        }
        await application.close()
    }
}

private func constraints(_ change: (inout Constraints) -> Void) -> Constraints {
    var constraints = Constraints()
    change(&constraints)
    return constraints
}

private func activity(_ change: (inout Activity) -> Void) -> Activity {
    var activity = Activity("feed", every: .seconds(5))
    change(&activity)
    return activity
}
