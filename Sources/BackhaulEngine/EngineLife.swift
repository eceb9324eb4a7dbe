internal import BackhaulModel
internal import BackhaulPlatform

/// Whether the engine runs, stops or has failed.
final class EngineLife {
    let startedMilliseconds = Clock.wallMilliseconds
    private let ended: @Sendable (EngineEnd) -> Void
    private var hasEnded = false
    private(set) var failure: Failure?
    private(set) var isLeaving = false
    private var whenLeft: (() -> Void)?

    init(ended: @escaping @Sendable (EngineEnd) -> Void) { self.ended = ended }

    /// Whether the engine stops or has failed, so that nothing may be started any more.
    var isEnding: Bool { failure != nil || isLeaving }

    /// Notes the failure. Returns false when the engine has failed before.
    func fail(_ failure: Failure) -> Bool {
        guard self.failure == nil else { return false }
        self.failure = failure
        return true
    }

    /// Calls the owner of this engine, which then stops it.
    func end(_ reason: EngineEnd) {
        guard !hasEnded else { return }
        hasEnded = true
        ended(reason)
    }

    func leave(_ whenLeft: @escaping () -> Void) {
        isLeaving = true
        self.whenLeft = whenLeft
    }

    /// All running tasks have written and synced their bytes.
    func left() {
        whenLeft?()
        whenLeft = nil
    }
}
