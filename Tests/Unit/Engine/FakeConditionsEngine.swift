import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import Testing

@testable import BackhaulEngine

/// An engine (the part of the library that runs tasks) whose *conditions* the test sets. The clients of a test connect
/// to the engine's socket in the store, which is the engine's directory.
final class FakeConditionsEngine: Sendable {
    let conditions: FakeConditions
    private let engine: Engine
    private let store: TestStore

    init(_ store: TestStore, _ conditions: Conditions = .pluggedIn) throws {
        self.store = store
        self.conditions = FakeConditions(conditions)
        let directory = try StoreDirectory.open(path: store.store)
        let lock = try #require(try directory.acquireLock())
        var options = EngineOptions.embedded
        options.makeConditionsSource = { [conditions = self.conditions] changed in conditions.source(changed) }
        engine = try Engine(directory: directory, lock: lock, options: options, ended: { _ in })
    }

    func setConditions(pending: ConditionSet = [], _ change: (inout Conditions) -> Void) {
        conditions.setConditions(pending: pending, change)
    }

    func stop() { engine.stop() }

    /// Creates the session, or opens it if it exists. The returned handle may read the session's events (as a
    /// *consumer*).
    func session(_ configuration: SessionConfiguration) throws -> TestSession {
        let application = try store.open()
        return TestSession(
            application: application,
            session: try EngineTests.session(application.createSession(configuration, .consume)))
    }
}

/// The connection of a host to the engine, with one session. `deinit` closes the connection.
final class TestSession {
    let application: ApplicationClient
    let session: SessionClient

    init(application: ApplicationClient, session: SessionClient) {
        self.application = application
        self.session = session
    }

    deinit { application.close() }

    func enqueue(_ requests: Request...) throws -> [TaskID] {
        try EngineTests.enqueue(session, requests).map(\.task)
    }

    func info(_ task: TaskID) throws -> TaskInfo {
        guard
            case .tasks(let tasks, _) = try reply(
                session.tasks(TaskSelection(ids: [task]), after: .zero, maximum: 1))
        else { throw Unexpected() }
        return try #require(tasks.first)
    }

    /// Waits until the task waits for this reason, and returns the task's info.
    func waits(_ task: TaskID, for reason: WaitReason) throws -> TaskInfo {
        var last: TaskInfo?
        let isSo = waitUntil {
            last = try? info(task)
            return last?.reason == reason
        }
        #expect(isSo, "the task's reason is \(last?.reason as Any), not \(reason)")
        return try #require(last)
    }

    func holds() throws -> [HoldInfo] {
        guard case .holds(let holds) = try reply(application.submit(.holds)) else { throw Unexpected() }
        return holds
    }

    func conditions() throws -> [ConditionKind: ConditionInfo] {
        guard case .conditions(let infos) = try reply(application.submit(.conditions)) else { throw Unexpected() }
        return Dictionary(uniqueKeysWithValues: infos.map { ($0.kind, $0) })
    }
}

extension Conditions {
    /// The conditions of a laptop with external power and an unmetered network.
    static var pluggedIn: Conditions {
        var conditions = Conditions()
        conditions.externalPower = Reading(true, source: "test")
        conditions.batteryPercent = Reading(80, source: "test")
        conditions.thermalState = Reading(.nominal, source: "test")
        conditions.network = Reading(Network(name: "Home", kind: .wifi), source: "test")
        conditions.isMetered = Reading(false, source: "test")
        conditions.connectivity = Reading(.full, source: "test")
        return conditions
    }

    static var onBattery: Conditions {
        var conditions = pluggedIn
        conditions.unplug()
        return conditions
    }

    mutating func unplug() { externalPower = Reading(false, source: "test") }
}

extension SessionConfiguration {
    static func named(_ identifier: String = "s", _ change: (inout Constraints) -> Void) -> SessionConfiguration {
        var configuration = SessionConfiguration(identifier: identifier)
        change(&configuration.constraints)
        return configuration
    }
}
