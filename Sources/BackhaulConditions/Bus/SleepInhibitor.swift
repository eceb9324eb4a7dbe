internal import BackhaulPlatform

/// The right to delay system sleep, which logind grants as a descriptor. The delay ends when the descriptor is closed,
/// and at the latest after InhibitDelayMaxUSec (logind.conf(5)). Any thread may use this object.
final class SleepInhibitor: Sendable {
    private struct State {
        var descriptor: Descriptor?
        var isPreparing = false
        /// Whether the work before the coming sleep is done.
        var isReady = false
    }

    private let state = Lock(State())

    var isHeld: Bool { state.withLock { $0.descriptor != nil } }

    /// Stores the descriptor of a new delay, and ends an earlier delay. If the work before the coming sleep is done
    /// already, the new delay ends at once.
    func hold(_ descriptor: Descriptor) {
        let unused: Descriptor? = state.withLock { state in
            if state.isPreparing, state.isReady { return descriptor }
            defer { state.descriptor = descriptor }
            return state.descriptor
        }
        // The unused descriptor is closed here, outside the mutex.
        _ = unused
    }

    func prepare(_ isPreparing: Bool) {
        state.withLock { state in
            if state.isPreparing == isPreparing { return }
            state.isPreparing = isPreparing
            state.isReady = false
        }
    }

    /// Ends the delay, because the work before the sleep is done. If the system is not preparing for sleep, the caller
    /// meant an earlier sleep, and the call has no effect.
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
