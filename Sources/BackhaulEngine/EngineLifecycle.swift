internal import BackhaulModel
internal import BackhaulPlatform

/// Whether the engine runs, stops or has failed. An engine that has failed or has no work asks its owner to stop it
/// (`requestStop`). The owner's `Engine.stop` then begins the draining, also if the host closes its application.
final class EngineLifecycle {
    /// The start of the engine, in Unix milliseconds.
    let startedMilliseconds: Int64
    private let ended: @Sendable (EngineEnd) -> Void
    private var hasEnded = false
    private(set) var failure: Failure?
    private(set) var isDraining = false
    private var whenDrained: (() -> Void)?

    init(startedMilliseconds: Int64, ended: @escaping @Sendable (EngineEnd) -> Void) {
        self.startedMilliseconds = startedMilliseconds
        self.ended = ended
    }

    /// Whether the engine stops or has failed. Then no work may start any more.
    var isEnding: Bool { failure != nil || isDraining }

    /// Notes the failure. Returns false when the engine has failed before.
    func fail(_ failure: Failure) -> Bool {
        guard self.failure == nil else { return false }
        self.failure = failure
        return true
    }

    /// Asks the owner of this engine to stop it, one time.
    func requestStop(_ reason: EngineEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        ended(reason)
    }

    func beginDraining(_ whenDrained: @escaping () -> Void) {
        isDraining = true
        self.whenDrained = whenDrained
    }

    /// Calls the closure that `beginDraining` got. The engine calls this function when each running task has synced its
    /// bytes, or has all bytes and is being finished.
    func drained() {
        whenDrained?()
        whenDrained = nil
    }
}
