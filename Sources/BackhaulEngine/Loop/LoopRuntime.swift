internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The loop as the engine's parts use it. Applies what their call-backs return.
final class LoopRuntime: Runtime {
    let loop: Loop
    private let services: Services
    /// Set once, before the first call-back.
    var apply: ([EngineEffect]) -> Void = { _ in }
    private var pending: [UInt64: any PendingCallback] = [:]
    private var lastNumber: UInt64 = 0
    private var isClosed = false

    init(_ loop: Loop, _ services: Services) {
        self.loop = loop
        self.services = services
    }

    var now: Int64 { loop.now }

    func timer(_ body: @escaping () -> [EngineEffect]) -> any RuntimeTimer {
        loop.timer { [unowned self] in apply(body()) }
    }

    func afterThisTurn(_ body: @escaping () -> [EngineEffect]) {
        loop.afterThisTurn { [unowned self] in apply(body()) }
    }

    func watch(_ descriptor: Int32, _ body: @escaping () -> [EngineEffect]) throws(SystemError) -> any RuntimeWatch {
        try loop.watch(descriptor, .readable) { [unowned self] _ in apply(body()) }
    }

    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value,
        then: @escaping (Result<Value, Failure>) -> [EngineEffect]
    ) {
        services.store.perform(body, then: returning { result in
            let effects = then(result)
            // Damage, or a descriptor that is gone: every later call of the store fails in the same way.
            if case .failure(let failure) = result, failure.endsStore { return effects + [.fail(failure)] }
            return effects
        })
    }

    /// The body stays on the loop; only its number goes to the other thread.
    func returning<Value: Sendable>(_ body: @escaping (Value) -> [EngineEffect]) -> @Sendable (Value) -> Void {
        lastNumber += 1
        let number = lastNumber
        if !isClosed { pending[number] = Callback(body) }
        return { [outbox = services.outbox] value in
            outbox.post { engine in engine.runtime.complete(number, with: value) }
        }
    }

    func complete<Value>(_ number: UInt64, with value: Value) {
        guard let callback = pending.removeValue(forKey: number) as? Callback<Value> else { return }
        apply(callback.body(value))
    }

    /// No call-back runs any more.
    func close() {
        isClosed = true
        pending = [:]
    }
}

private protocol PendingCallback: AnyObject {}

private final class Callback<Value>: PendingCallback {
    let body: (Value) -> [EngineEffect]
    init(_ body: @escaping (Value) -> [EngineEffect]) { self.body = body }
}
