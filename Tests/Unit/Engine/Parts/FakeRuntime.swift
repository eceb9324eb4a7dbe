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
    let fakeClocks = FakeClocks()
    var clocks: any Clocks { fakeClocks }
    var now: Int64 { fakeClocks.bootMilliseconds }
    private var lastRandom: UInt64 = 0
    private var lastReturning = 0
    private var awaited: [Int: (any Sendable) -> [EngineEffect]] = [:]
    private let returned = Lock<[(Int, any Sendable)]>([])
    /// The *effects* (actions that the engine should perform) that callbacks have returned since the last
    /// `takeEffects`, in order.
    private(set) var effects: [EngineEffect] = []
    private var timers: [Weak] = []
    private var afterwards: [() -> [EngineEffect]] = []
    private var storeCalls: [any StoreCall] = []

    private struct Weak {
        weak var timer: FakeTimer?
    }

    /// The same numbers in each run (SplitMix64).
    func random() -> UInt64 {
        lastRandom &+= 0x9E37_79B9_7F4A_7C15
        var bits = lastRandom
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
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
        lastReturning += 1
        let number = lastReturning
        awaited[number] = { value in (value as? Value).map(body) ?? [] }
        return { [returned] value in returned.change { $0.append((number, value)) } }
    }

    /// Runs the call-backs whose results other threads, such as the threads of the disk, have returned.
    func takeReturned() {
        let results = returned.change { results in
            defer { results = [] }
            return results
        }
        for (number, value) in results { effects += awaited.removeValue(forKey: number)?(value) ?? [] }
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
            fakeClocks.bootMilliseconds = max(now, next.due!)
            next.due = nil
            effects += next.body()
            endIteration()
        }
        fakeClocks.bootMilliseconds = end
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

/// Clocks that a test sets. The wall clock advances together with the boot clock.
final class FakeClocks: Clocks {
    private let times = Lock((boot: 1_000_000 as Int64, offset: 1_700_000_000_000 as Int64))

    var bootMilliseconds: Int64 {
        get { times.withLock { $0.boot } }
        set { times.withLock { $0.boot = newValue } }
    }
    var wallMilliseconds: Int64 { times.withLock { $0.boot + $0.offset } }
    var bootID: String { "boot" }
    var isSynchronised: Bool { true }
    func localOffsetMilliseconds(at unix: Int64) -> Int64 { 0 }
    func readTimeZone() {}

    /// Sets the wall clock to another time, as a user can.
    func stepWallClock(by milliseconds: Int64) { times.withLock { $0.offset += milliseconds } }
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
