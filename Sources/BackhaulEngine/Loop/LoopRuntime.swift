internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The clocks of this machine.
struct MachineClocks: Clocks {
    var wallMilliseconds: Int64 { Clock.wallMilliseconds }
    var bootMilliseconds: Int64 { Clock.bootMilliseconds }
    var bootID: String { ProcessIdentity.currentBootID }
    var isSynchronised: Bool { Clock.isSynchronised }
    func localOffsetMilliseconds(at unix: Int64) -> Int64 { Clock.localOffsetMilliseconds(at: unix) }
    func readTimeZone() { Clock.readTimeZone() }
}

/// The `Runtime` of an engine: its loop and its store thread. The effects that the call-backs return go into one queue.
/// After each call-back of the loop, the effects in the queue are applied, until it is empty. So no effect is applied
/// while a method of a part runs.
final class LoopRuntime: Runtime {
    let loop: Loop
    private let services: Services
    /// Applies one effect. This closure is set once, before the first call-back.
    var apply: (EngineEffect) -> Void = { _ in }
    private var queue = EffectQueue()
    /// Whether a call-back runs, or the effects after it are being applied.
    private var isRunning = false
    private var isRunPlanned = false
    private var pending: [UInt64: (any Sendable) -> [EngineEffect]] = [:]
    private var lastNumber: UInt64 = 0
    private var isClosed = false

    init(_ loop: Loop, _ services: Services) {
        self.loop = loop
        self.services = services
    }

    var now: Int64 { loop.now }
    var clocks: any Clocks { MachineClocks() }

    func random() -> UInt64 { .random(in: .min ... .max) }

    /// Runs a call-back of the loop. Then applies its effects, the effects of these effects, and so on.
    func run(_ body: () -> [EngineEffect]) {
        assert(!isRunning, "a call-back of the loop runs inside another call-back")
        isRunning = true
        applyAll()
        queue.add(body())
        applyAll()
        isRunning = false
    }

    private func applyAll() {
        while let effect = queue.next() { apply(effect) }
    }

    func add(_ effects: [EngineEffect]) {
        guard !effects.isEmpty, !isClosed else { return }
        queue.add(effects)
        guard !isRunning, !isRunPlanned else { return }
        // The caller is not a part: libcurl or a socket has called the engine.
        isRunPlanned = true
        loop.afterThisStep { [unowned self] in
            isRunPlanned = false
            run { [] }
        }
    }

    func timer(_ body: @escaping () -> [EngineEffect]) -> any RuntimeTimer {
        loop.timer { [unowned self] in run(body) }
    }

    func afterThisIteration(_ body: @escaping () -> [EngineEffect]) {
        loop.afterThisIteration { [unowned self] in run(body) }
    }

    func watch(
        _ descriptor: Int32, _ interest: Interest, _ body: @escaping () -> [EngineEffect]
    ) throws(SystemError) -> any RuntimeWatch {
        try loop.watch(descriptor, interest) { [unowned self] _ in run(body) }
    }

    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value, mayBeDelayed: Bool,
        then: @escaping (Result<Value, Failure>) -> [EngineEffect]
    ) {
        let report = returning { (result: Result<Value, Failure>) in
            let effects = then(result)
            // If the database is damaged or a descriptor was closed, each later call of the store fails in the same
            // way. So the engine ends.
            if case .failure(let failure) = result, failure.endsStore { return effects + [.fail(failure)] }
            return effects
        }
        services.store.perform(body, mayBeDelayed: mayBeDelayed, then: report)
    }

    /// The body gets a number, and only this number goes to the other thread. The body itself stays on the loop's
    /// thread, because it uses objects that belong to the loop's thread.
    func returning<Value: Sendable>(_ body: @escaping (Value) -> [EngineEffect]) -> @Sendable (Value) -> Void {
        let number = add { value in (value as? Value).map(body) ?? [] }
        return { [mailbox = services.mailbox] value in
            mailbox.post { engine in engine.runtime.complete(number, with: value) }
        }
    }

    private func add(_ body: @escaping (any Sendable) -> [EngineEffect]) -> UInt64 {
        lastNumber += 1
        if !isClosed { pending[lastNumber] = body }
        return lastNumber
    }

    private func complete(_ number: UInt64, with value: any Sendable) {
        guard let body = pending.removeValue(forKey: number) else { return }
        run { body(value) }
    }

    /// Drops all call-backs and effects.
    func close() {
        isClosed = true
        queue = EffectQueue()
        pending = [:]
    }
}
