internal import CUV

/// Calls its handler once, some time after `start`; may be started again, also from its handler. Dies with its last
/// reference. Confined to the loop's thread. The time in which the machine sleeps counts.
public final class LoopTimer {
    // Unsafe: `Timers` owns the handle and outlives every use of it. Nil once the loop is over.
    var handle: UnsafeMutablePointer<uv_timer_t>?
    private let timers: Timers
    private let handler: () -> Void

    init(_ timers: Timers, _ handler: @escaping () -> Void) {
        self.timers = timers
        self.handler = handler
        handle = timers.take(for: self)
    }

    deinit {
        if let handle { timers.giveBack(handle, of: self) }
    }

    /// A running timer starts anew. Negative counts as 0, which means: in the present turn of the loop or the next.
    public func start(milliseconds: Int64) {
        if let handle { timers.start(handle, max(0, milliseconds)) }
    }

    public func stop() {
        if let handle { timers.stop(handle) }
    }

    /// Until the handler is called; 0 when it does not run.
    public var millisecondsLeft: Int64 {
        handle.map { timers.isRunning($0) ? timers.millisecondsLeft($0) : 0 } ?? 0
    }

    public var isRunning: Bool {
        handle.map { timers.isRunning($0) } ?? false
    }

    func fire() { handler() }
}
