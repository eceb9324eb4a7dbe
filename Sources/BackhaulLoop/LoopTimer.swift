internal import CUV

/// A timer that calls its handler one time, at the time that `start` sets. It may be started again, even by its own
/// handler. The timer ends when its last reference is released. It is confined to the loop's thread. The timer also
/// counts the time in which the machine sleeps.
///
/// Unsafe: `handle` is valid until the loop is closed.
public final class LoopTimer {
    private let loop: Loop
    private let handle: UnsafeMutablePointer<uv_timer_t>
    private let handler: () -> Void

    init(_ loop: Loop, _ handle: UnsafeMutablePointer<uv_timer_t>, _ handler: @escaping () -> Void) {
        self.loop = loop
        self.handle = handle
        self.handler = handler
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { loop.recycle(handle) }

    /// Starts the timer, or restarts it if it runs. If `milliseconds` is 0 or less, the handler is called in this or
    /// the next iteration of the loop.
    public func start(milliseconds: Int64) {
        guard loop.isOpen else { return }
        // If a timer restarted itself with a delay of 0 ms, `uv_run` of libuv 1.44 would never return.
        let delay = max(loop.isCallingTimer ? 1 : 0, milliseconds)
        uv_timer_start(
            handle,
            { handle in
                guard let data = handle?.pointee.data else { return }
                // The timer is retained during the call, because the handler may drop the last reference to the timer.
                Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().fire()
            }, UInt64(delay), 0)
    }

    public func stop() {
        if loop.isOpen { uv_timer_stop(handle) }
    }

    /// Milliseconds until the handler is called; 0 if the timer does not run.
    public var millisecondsLeft: Int64 {
        isRunning ? Int64(clamping: uv_timer_get_due_in(handle)) : 0
    }

    public var isRunning: Bool {
        loop.isOpen && uv_is_active(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) != 0
    }

    private func fire() { loop.call(handler) }
}
