internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What a part of the engine uses of its loop: time, timers, descriptors, the store, and results of other threads.
///
/// All call-backs run on the loop's thread and return what should happen outside of the part. A test gives a part a
/// fake, without a thread and without a database.
protocol Runtime: AnyObject {
    /// Milliseconds since boot, as of the start of the present turn.
    var now: Int64 { get }

    /// A timer that does not run yet.
    func timer(_ body: @escaping () -> [EngineEffect]) -> any RuntimeTimer

    /// Calls `body` when the call-backs of this turn are done.
    func afterThisTurn(_ body: @escaping () -> [EngineEffect])

    /// Calls `body` whenever the descriptor is readable, until the watch is cancelled or released.
    func watch(_ descriptor: Int32, _ body: @escaping () -> [EngineEffect]) throws(SystemError) -> any RuntimeWatch

    /// Runs `body` on the store's thread in the next transaction, and `then` on the loop once its effect is durable.
    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value,
        then: @escaping (Result<Value, Failure>) -> [EngineEffect])

    /// A function that another thread calls once with a result; `body` then runs on the loop.
    func returning<Value: Sendable>(_ body: @escaping (Value) -> [EngineEffect]) -> @Sendable (Value) -> Void
}

/// A timer that calls its body once, some time after `start`; may be started again.
protocol RuntimeTimer: AnyObject {
    var isRunning: Bool { get }
    /// 0 when it does not run.
    var millisecondsLeft: Int64 { get }
    func start(milliseconds: Int64)
    func stop()
}

/// A watched descriptor.
protocol RuntimeWatch: AnyObject {
    func cancel()
}

extension LoopTimer: RuntimeTimer {}
extension Watch: RuntimeWatch {}

extension Runtime {
    func returning(_ body: @escaping () -> [EngineEffect]) -> @Sendable () -> Void {
        let done = returning { (_: Bool) in body() }
        return { done(true) }
    }

    /// As `store`, for work that no client waits for and repeats. While the store cannot do it for want of memory or
    /// space, it is tried again each second: without the result, tasks would wait for ever.
    func storeUntilDone<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value,
        then: @escaping (Value) -> [EngineEffect]
    ) {
        store(body, then: { [unowned self] result in
            switch result {
            case .success(let value): return then(value)
            case .failure(let failure) where failure.endsStore: return []
            case .failure: return [.retryLater { [unowned self] in storeUntilDone(body, then: then) }]
            }
        })
    }
}
