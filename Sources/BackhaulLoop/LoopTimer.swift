internal import CUV

/// A timer that calls its handler one time, at the time that `start` sets. It may be started again, even by its own
/// handler. The timer ends when its last reference is released. It is confined to the loop's thread. The timer also
/// counts the time in which the machine sleeps.
public final class LoopTimer {
    // Unsafe: `Timers` owns the handle and outlives every use of it. The handle is nil after the loop has ended.
    var handle: UnsafeMutablePointer<uv_timer_t>?
    private let timers: Timers
    private let handler: () -> Void

    init(_ timers: Timers, _ handler: @escaping () -> Void) {
        self.timers = timers
        self.handler = handler
        handle = timers.take(for: self)
    }

    deinit {
        if let handle { timers.recycle(handle, of: self) }
    }

    /// Starts the timer, or restarts it if it runs. If `milliseconds` is 0 or less, the handler is called in this or
    /// the next iteration of the loop.
    public func start(milliseconds: Int64) {
        if let handle { timers.start(handle, max(0, milliseconds)) }
    }

    public func stop() {
        if let handle { timers.stop(handle) }
    }

    /// Milliseconds until the handler is called; 0 if the timer does not run.
    public var millisecondsLeft: Int64 {
        handle.map { timers.isRunning($0) ? timers.millisecondsLeft($0) : 0 } ?? 0
    }

    public var isRunning: Bool {
        handle.map { timers.isRunning($0) } ?? false
    }

    func fire() { handler() }
}
