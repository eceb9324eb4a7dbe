public import BackhaulPlatform
internal import CUV

/// An event loop: timers, watched descriptors, and work for the end of a step or of an iteration. It is confined to the
/// thread of its `LoopThread`.
///
/// libuv runs the loop. An iteration begins when libuv stops waiting, and ends just before libuv waits again.
///
/// Unsafe: libuv's handles have pointers to this object and to its timers and watches. libuv uses the pointers only in
/// `run`. The handles of timers and watches are valid until `close`.
public final class Loop {
    /// Milliseconds since boot, sleep included, at the start of the current iteration.
    public private(set) var now: Int64 = Clock.bootMilliseconds

    /// Nil after `close`.
    private var uv: LibuvLoop?
    /// An active handle of this type keeps libuv from waiting.
    private let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
    private var freeTimers: [UnsafeMutablePointer<uv_timer_t>] = []
    private var watches: [Int32: Entry] = [:]
    private var resumeWatch: ResumeWatch?
    /// The boot clock minus the clock of the timers. The clock of the timers stops during sleep.
    private var sleptMilliseconds: Int64
    private var hasBegun = false
    private(set) var isCallingTimer = false
    private var afterwards: [() -> Void] = []
    private var afterStep: [() -> Void] = []
    private var performJobs: () -> Bool = { true }
    private var clockStepHandler: (() -> Void)?

    private struct Entry {
        unowned let watch: Watch
    }

    init(_ uv: LibuvLoop) throws(SystemError) {
        self.uv = uv
        uv_update_time(uv.pointer)
        sleptMilliseconds = Clock.bootMilliseconds - Int64(uv_now(uv.pointer))
        uv.pointer.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        uv_idle_init(uv.pointer, idle)
        let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
        uv_prepare_init(uv.pointer, prepare)
        uv_prepare_start(prepare) { Loop.of($0?.pointee.loop).endIteration() }
        let check = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
        uv_check_init(uv.pointer, check)
        uv_check_start(check) {
            let loop = Loop.of($0?.pointee.loop)
            loop.begin()
            loop.endStep()
        }
        resumeWatch = try ResumeWatch(self)
    }

    /// Makes a timer that does not run yet.
    public func timer(_ handler: @escaping () -> Void) -> LoopTimer {
        if let used = freeTimers.popLast() { return LoopTimer(self, used, handler) }
        let handle = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
        if let uv { uv_timer_init(uv.pointer, handle) }
        return LoopTimer(self, handle, handler)
    }

    /// Calls the handler whenever the descriptor is ready, level-triggered. Each descriptor has one watch: a second
    /// watch replaces the first.
    public func watch(
        _ descriptor: Int32, _ interest: Interest, _ handler: @escaping (Interest) -> Void
    ) throws(SystemError) -> Watch {
        guard let uv else { throw SystemError(code: EBADF, messageStart: "the loop has ended") }
        watches[descriptor]?.watch.cancel()
        let watch = try Watch(self, uv, descriptor, interest, handler)
        watches[descriptor] = Entry(watch: watch)
        return watch
    }

    /// Runs the body after the call-backs of this iteration. If a body adds another body, the added body runs in the
    /// next iteration, which begins without a wait.
    public func afterThisIteration(_ body: @escaping () -> Void) {
        afterwards.append(body)
    }

    /// Runs the body at the end of the present step of this iteration. The steps are: the jobs of other threads, the
    /// call-backs of watches, the call-backs of timers, and each body of `afterThisIteration`. If a body adds another
    /// body, the added body runs at the end of the next step. So the results of many jobs can be joined without a delay
    /// until the next step.
    public func afterThisStep(_ body: @escaping () -> Void) {
        afterStep.append(body)
    }

    /// Calls the handler whenever the wall clock is set or jumps. The clock also jumps when the machine wakes from
    /// sleep.
    public func onClockStep(_ handler: @escaping () -> Void) { clockStepHandler = handler }

    // MARK: - For timers and watches

    var isOpen: Bool { uv != nil }

    func notifyClockStep() { clockStepHandler?() }

    /// Starts the iteration if it has not begun. Each call-back of libuv calls this function first.
    func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        now = Clock.bootMilliseconds
        noticeSleep(now - timerClock)
    }

    func call(_ timerHandler: () -> Void) {
        begin()
        isCallingTimer = true
        timerHandler()
        isCallingTimer = false
    }

    /// Keeps the handle for the next timer. So the end of a timer does not cause another iteration, as `uv_close` does.
    func recycle(_ timer: UnsafeMutablePointer<uv_timer_t>) {
        guard isOpen else { return }
        uv_timer_stop(timer)
        timer.pointee.data = nil
        freeTimers.append(timer)
    }

    /// Returns whether the watch's handle must be closed now.
    func forget(_ watch: Watch) -> Bool {
        if isOpen { watches[watch.descriptor] = nil }
        return isOpen
    }

    // MARK: - For LoopThread

    /// Runs the loop until `performJobs` returns false. The loop calls `performJobs` after each call of
    /// `LibuvLoop.wake`.
    func run(_ performJobs: @escaping () -> Bool) {
        guard let uv else { return }
        self.performJobs = performJobs
        uv_run(uv.pointer, UV_RUN_DEFAULT)
        // libuv has ended in the middle of an iteration.
        endIteration()
        self.performJobs = { true }
    }

    static func woken(_ pointer: UnsafeMutablePointer<uv_loop_t>?) {
        let loop = Loop.of(pointer)
        loop.begin()
        if !loop.performJobs() { uv_stop(pointer) }
        loop.endStep()
    }

    private func endIteration() {
        endStep()
        let bodies = afterwards
        afterwards = []
        for body in bodies {
            body()
            endStep()
        }
        hasBegun = false
        if afterwards.isEmpty, afterStep.isEmpty {
            uv_idle_stop(idle)
        } else {
            uv_idle_start(idle) { _ in }
        }
    }

    private func endStep() {
        guard !afterStep.isEmpty else { return }
        let bodies = afterStep
        afterStep = []
        for body in bodies { body() }
    }

    /// Ends the watches and timers, and drops all call-backs, whose objects may refer to this loop. The handles are
    /// closed at the end of `LibuvLoop`.
    func close() {
        resumeWatch = nil
        uv = nil
        freeTimers = []
        watches = [:]
        afterwards = []
        afterStep = []
        clockStepHandler = nil
    }

    private static func of(_ loop: UnsafeMutablePointer<uv_loop_t>?) -> Loop {
        // libuv calls its call-backs only during `run`, and `run` retains the object.
        Unmanaged<Loop>.fromOpaque(loop!.pointee.data).takeUnretainedValue()
    }

    // MARK: - System sleep

    /// The time of the timers' clock, in milliseconds.
    var timerClock: Int64 { uv.map { Int64(uv_now($0.pointer)) } ?? 0 }

    /// Shortens the timers by the time in which the machine slept. `sleptNow` is the boot clock minus the clock of the
    /// timers. The two clocks are read one after the other, so `sleptNow` also varies a little without sleep. Only a
    /// change of more than 20 ms counts as sleep.
    func noticeSleep(_ sleptNow: Int64) {
        var slept = sleptNow - sleptMilliseconds
        guard abs(slept) > 20, let uv else { return }
        sleptMilliseconds = sleptNow
        uv_walk(
            uv.pointer,
            { handle, slept in
                guard let handle, let slept, uv_handle_get_type(handle) == UV_TIMER, uv_is_active(handle) != 0
                else { return }
                let timer = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_timer_t.self)
                let left = Int64(clamping: uv_timer_get_due_in(timer)) - slept.load(as: Int64.self)
                uv_timer_start(timer, timer.pointee.timer_cb, UInt64(max(0, left)), 0)
            }, &slept)
    }
}
