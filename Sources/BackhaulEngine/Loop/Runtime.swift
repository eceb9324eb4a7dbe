internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The functions that the loop offers to a part of the engine: clocks, random numbers, timers, descriptors, the store,
/// and results of other threads. Nothing else decides what a part does, so a fake can repeat each run exactly.
///
/// All call-backs run on the loop's thread, and return effects: actions in other parts. Tests use a fake, without a
/// thread and without a database.
protocol Runtime: AnyObject {
    /// Milliseconds since boot, at the start of the present iteration of the loop.
    var now: Int64 { get }

    var clocks: any Clocks { get }

    /// 64 random bits.
    func random() -> UInt64

    /// Adds effects to the queue. If no call-back of the runtime is running, the effects are applied at the end of this
    /// step of the loop.
    func add(_ effects: [EngineEffect])

    /// A timer that does not run yet.
    func timer(_ body: @escaping () -> [EngineEffect]) -> any RuntimeTimer

    /// Calls `body` after the call-backs of this iteration of the loop.
    func afterThisIteration(_ body: @escaping () -> [EngineEffect])

    /// Calls `body` whenever one of the events in `interest` occurs at the descriptor, until the watch is cancelled or
    /// released.
    func watch(
        _ descriptor: Int32, _ interest: Interest, _ body: @escaping () -> [EngineEffect]
    ) throws(SystemError) -> any RuntimeWatch

    /// Runs `body` on the store's thread in the next transaction, and `then` on the loop after the commit. If
    /// `mayBeDelayed` is true, `body` may wait up to `StoreThread.longestDelayMilliseconds` for other work of the
    /// store. The bodies run in the order of the calls in any case.
    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value, mayBeDelayed: Bool,
        then: @escaping (Result<Value, Failure>) -> [EngineEffect])

    /// Returns a function that another thread calls once with a result. `body` then runs on the loop.
    func returning<Value: Sendable>(_ body: @escaping (Value) -> [EngineEffect]) -> @Sendable (Value) -> Void
}

/// The machine's clocks. Any thread may read them, so bodies of the store's transactions read them, too.
protocol Clocks: Sendable {
    /// Milliseconds since 1970, by the machine's calendar. Users may set it.
    var wallMilliseconds: Int64 { get }
    /// Milliseconds since boot, including sleep.
    var bootMilliseconds: Int64 { get }
    /// The id of the machine's present boot.
    var bootID: String { get }
    /// Whether a program, such as an NTP client, keeps the machine's calendar right.
    var isSynchronised: Bool { get }
    /// How many milliseconds the local time is ahead of Unix time, at this time in Unix milliseconds.
    func localOffsetMilliseconds(at unix: Int64) -> Int64
    /// Reads the machine's present time zone. Without this call, the zone that was read first applies.
    func readTimeZone()
}

extension Clocks {
    var reading: ClockReading { ClockReading(wall: wallMilliseconds, boot: bootMilliseconds, bootID: bootID) }
}

/// A timer that calls its body one time after each `start`. It may be started again.
protocol RuntimeTimer: AnyObject {
    var isRunning: Bool { get }
    /// The milliseconds until the timer fires; 0 if it does not run.
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
    /// A random number from 0 to 1, without 1.
    func randomFraction() -> Double { Double(random() >> 11) * 0x1p-53 }

    /// Calls `body` whenever the descriptor is readable, until the watch is cancelled or released.
    func watch(_ descriptor: Int32, _ body: @escaping () -> [EngineEffect]) throws(SystemError) -> any RuntimeWatch {
        try watch(descriptor, .readable, body)
    }

    /// Runs `body` without a delay. (A protocol cannot have a default value for `mayBeDelayed`.)
    func store<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value,
        then: @escaping (Result<Value, Failure>) -> [EngineEffect]
    ) {
        store(body, mayBeDelayed: false, then: then)
    }

    func returning(_ body: @escaping () -> [EngineEffect]) -> @Sendable () -> Void {
        let done = returning { (_: Bool) in body() }
        return { done(true) }
    }

    /// Does the same as `store`, for work that the engine does without a command from a client. If such work fails, no
    /// client requests it again, and tasks would wait for its result for ever. So if the store could not do the
    /// work, but can still be used (`Failure.endsStore` is false), the work is tried again each second.
    func storeWithRetry<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value,
        then: @escaping (Value) -> [EngineEffect]
    ) {
        store(
            body,
            then: { [unowned self] result in
                switch result {
                case .success(let value): return then(value)
                case .failure(let failure) where failure.endsStore: return []
                case .failure: return [.retryLater { [unowned self] in storeWithRetry(body, then: then) }]
                }
            })
    }
}
