internal import BackhaulPlatform

/// The delay of system sleep that logind grants: a descriptor. The delay ends when it is closed, and in any case after
/// InhibitDelayMaxUSec (logind.conf(5)). Any thread may use this object.
final class SleepDelay: Sendable {
    private struct State {
        var descriptor: Descriptor?
        var isPreparing = false
        /// Whether the work before this sleep is done.
        var isReady = false
    }

    private let state = Lock(State())

    var isHeld: Bool { state.withLock { $0.descriptor != nil } }

    /// Stores a new delay, and releases an earlier one.
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

    /// Reports that the work before the sleep is done. No effect while no sleep is prepared, because the report was for
    /// an earlier one.
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
