internal import BackhaulModel
internal import BackhaulStore

/// A task that runs is held back.
extension TaskRunner {
    /// Leaves at once: nothing is received any more, and what is here is synced.
    func deferred(for reason: WaitReason) {
        guard mayBeDeferred else { return }
        left = (.waiting, reason)
        isDeferred = true
        take(.leave)
    }

    /// Not when all bytes are here, nor when the server may do what was asked and must not be asked again.
    var mayBeDeferred: Bool {
        let isUnsafe = requests > 0 && !policy.mayRepeat(task.request.method)
        return !isFinishing && !hasAllBytes && !wasCancelled && !gaveWay && !isDeferred && task.intent == nil
            && !isUnsafe
    }
}
