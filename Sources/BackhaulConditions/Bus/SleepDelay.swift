internal import BackhaulPlatform

/// The delay of system sleep that logind gives: a descriptor, over when it is closed, and after InhibitDelayMaxUSec
/// (logind.conf(5)) whatever we do. Any thread may use it.
final class SleepDelay: Sendable {
    private struct State {
        var descriptor: Descriptor?
        var isPreparing = false
        /// Of this preparation.
        var isReady = false
    }

    private let state = Lock(State())

    var isHeld: Bool { state.withLock { $0.descriptor != nil } }

    /// Takes the place of an earlier one.
    func hold(_ descriptor: Descriptor) {
        let unused: Descriptor? = state.withLock { state in
            if state.isPreparing, state.isReady { return descriptor }
            defer { state.descriptor = descriptor }
            return state.descriptor
        }
        // Closed here, outside the lock.
        _ = unused
    }

    func prepare(_ isPreparing: Bool) {
        state.withLock { state in
            if state.isPreparing == isPreparing { return }
            state.isPreparing = isPreparing
            state.isReady = false
        }
    }

    /// What was to be done before the sleep is done. Without effect while no sleep is prepared: it was for an earlier
    /// one.
    func ready() {
        let done: Descriptor? = state.withLock { state in
            guard state.isPreparing else { return nil }
            state.isReady = true
            defer { state.descriptor = nil }
            return state.descriptor
        }
        _ = done
    }

    func end() {
        let done: Descriptor? = state.withLock { state in
            defer { state.descriptor = nil }
            return state.descriptor
        }
        _ = done
    }
}
