import BackhaulLoop
import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import Glibc
import Testing

@testable import BackhaulEngine

/// A fake event loop for the test of one part of the engine, without threads or a database. The test advances the time,
/// and returns results in place of the database (the *store*).
final class FakeRuntime: Runtime {
    private(set) var now: Int64 = 1_000_000
    /// The *effects* (actions that the engine should perform) that callbacks have returned since the last
    /// `takeEffects`, in order.
    private(set) var effects: [EngineEffect] = []
    private var timers: [Weak] = []
    private var afterwards: [() -> [EngineEffect]] = []
    private var storeCalls: [any StoreCall] = []

    private struct Weak {
        weak var timer: FakeTimer?
    }

    func timer(_ body: @escaping () -> [EngineEffect]) -> any RuntimeTimer {
        let timer = FakeTimer(self, body)
        timers.append(Weak(timer: timer))
        return timer
    }

    func afterThisIteration(_ body: @escaping () -> [EngineEffect]) { afterwards.append(body) }

    func watch(
        _ descriptor: Int32, _ interest: Interest, _ body: @escaping () -> [EngineEffect]
    ) throws(SystemError) -> any RuntimeWatch {
        throw SystemError(code: ENOSYS, messageStart: "a fake loop watches no descriptors")
    }

    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value, mayBeDelayed: Bool,
        then: @escaping (Result<Value, Failure>) -> [EngineEffect]
    ) {
        storeCalls.append(PendingStoreCall(mayBeDelayed: mayBeDelayed, then: then))
    }

    func returning<Value: Sendable>(_ body: @escaping (Value) -> [EngineEffect]) -> @Sendable (Value) -> Void {
        fatalError("a part that waits for other threads is tested with them")
    }

    func add(_ more: [EngineEffect]) { effects += more }

    // Functions for the test

    var pendingStoreCalls: Int { storeCalls.count }

    /// For each pending call to the store: whether the store may delay the call.
    var pendingDelays: [Bool] { storeCalls.map(\.mayBeDelayed) }

    /// Whether the oldest pending call to the store has this type of result.
    func storeAwaits<Value: Sendable>(_ type: Value.Type) -> Bool { storeCalls.first is PendingStoreCall<Value> }

    /// Completes the oldest pending call to the store that has this type of result.
    func storeReturns<Value: Sendable>(_ result: Result<Value, Failure>) throws {
        let index = try #require(
            storeCalls.firstIndex { $0 is PendingStoreCall<Value> }, "no call awaits such a result")
        let call = storeCalls.remove(at: index) as? PendingStoreCall<Value>
        effects += call?.then(result) ?? []
    }

    func storeReturns<Value: Sendable>(_ value: Value) throws {
        try storeReturns(Result<Value, Failure>.success(value))
    }

    /// Ends the loop iteration as the loop does. A closure that is added meanwhile runs at the end of the next
    /// iteration.
    func endIteration() {
        let bodies = afterwards
        afterwards = []
        for body in bodies { effects += body() }
    }

    /// Advances the time, and fires the timers that become due, in order.
    func advance(milliseconds: Int64) {
        let end = now + milliseconds
        while let next = timers.compactMap(\.timer).filter({ ($0.due ?? .max) <= end }).min(by: { $0.due! < $1.due! }) {
            now = max(now, next.due!)
            next.due = nil
            effects += next.body()
            endIteration()
        }
        now = end
    }

    /// Runs the work that is to be repeated because the store failed.
    func retry() {
        for case .retryLater(let body) in takeEffects() { body() }
    }

    /// Returns the effects since the last call.
    func takeEffects() -> [EngineEffect] {
        defer { effects = [] }
        return effects
    }
}

final class FakeTimer: RuntimeTimer {
    let body: () -> [EngineEffect]
    var due: Int64?
    private unowned let runtime: FakeRuntime

    init(_ runtime: FakeRuntime, _ body: @escaping () -> [EngineEffect]) {
        self.runtime = runtime
        self.body = body
    }

    var isRunning: Bool { due != nil }
    var millisecondsLeft: Int64 { due.map { max(0, $0 - runtime.now) } ?? 0 }
    func start(milliseconds: Int64) { due = runtime.now + max(0, milliseconds) }
    func stop() { due = nil }
}

private protocol StoreCall {
    var mayBeDelayed: Bool { get }
}

private struct PendingStoreCall<Value: Sendable>: StoreCall {
    let mayBeDelayed: Bool
    let then: (Result<Value, Failure>) -> [EngineEffect]
}
