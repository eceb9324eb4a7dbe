public import BackhaulPlatform
internal import CLinux

/// An event loop: timers, watched descriptors, and work for the end of a step or of an iteration. It is confined to the
/// thread of its `LoopThread`.
public final class Loop {
    /// Milliseconds since boot, sleep included, at the start of the current iteration.
    public private(set) var now: Int64 = Clock.bootMilliseconds
    /// True after the host (the program that embeds the library) has closed a descriptor that the loop needs. Then
    /// timers and watches do not work any more.
    public private(set) var isBroken = false

    let events: EpollSet
    private let timers: Timers
    private var watches: [Int32: Entry] = [:]
    private var resumeWatch: ResumeWatch?
    /// The boot clock minus the clock of the timers. The clock of the timers stops during sleep.
    private var sleptMilliseconds: Int64
    private var lastGeneration: UInt32 = 0
    private var afterwards: [() -> Void] = []
    private var afterStep: [() -> Void] = []
    private var clockStepHandler: (() -> Void)?

    private struct Entry {
        let generation: UInt32
        unowned let watch: Watch
    }

    init(_ events: EpollSet) throws(SystemError) {
        self.events = events
        timers = try Timers(watching: events.number)
        sleptMilliseconds = Clock.bootMilliseconds - timers.now
        resumeWatch = try ResumeWatch(self)
    }

    /// Makes a timer that does not run yet.
    public func timer(_ handler: @escaping () -> Void) -> LoopTimer {
        LoopTimer(timers, handler)
    }

    /// Calls the handler whenever the descriptor is ready, level-triggered. Each descriptor has one watch: a second
    /// watch replaces the first.
    public func watch(
        _ descriptor: Int32, _ interest: Interest, _ handler: @escaping (Interest) -> Void
    ) throws(SystemError) -> Watch {
        guard !isBroken else { throw SystemError(code: EBADF, messageStart: "the loop has lost its descriptors") }
        lastGeneration &+= 1
        let watch = Watch(self, descriptor, lastGeneration, interest, handler)
        if !interest.isEmpty { try events.add(descriptor, interest.events, key(watch)) }
        watches[descriptor] = Entry(generation: watch.generation, watch: watch)
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

    // MARK: - For Watch

    func updateWatch(_ watch: Watch, before: Interest) -> Bool {
        guard !isBroken, watches[watch.descriptor]?.generation == watch.generation else { return false }
        do throws(SystemError) {
            if watch.interest.isEmpty {
                events.remove(watch.descriptor)
            } else if before.isEmpty {
                try events.add(watch.descriptor, watch.interest.events, key(watch))
            } else {
                try events.change(watch.descriptor, watch.interest.events, key(watch))
            }
            return true
        } catch {
            watches[watch.descriptor] = nil
            return false
        }
    }

    func forget(_ watch: Watch) {
        // If a later watch has the same descriptor, the registration in the epoll set belongs to the later watch.
        guard watches[watch.descriptor]?.generation == watch.generation else { return }
        watches[watch.descriptor] = nil
        if !isBroken, !watch.interest.isEmpty { events.remove(watch.descriptor) }
    }

    private func key(_ watch: Watch) -> UInt64 {
        UInt64(watch.generation) << 32 | UInt64(UInt32(bitPattern: watch.descriptor))
    }

    // MARK: - For LoopThread

    func beginIteration() {
        now = Clock.bootMilliseconds
        timers.updateTime()
        noticeSleep(now - timers.now)
    }

    func notifyClockStep() { clockStepHandler?() }

    var timerClock: Int64 { timers.now }

    /// Shortens the timers by the time in which the machine slept. `sleptNow` is the boot clock minus the clock of the
    /// timers. The two clocks are read one after the other, so `sleptNow` also varies a little without sleep. Only a
    /// change of more than 20 ms counts as sleep.
    func noticeSleep(_ sleptNow: Int64) {
        guard abs(sleptNow - sleptMilliseconds) > 20 else { return }
        timers.slept(milliseconds: sleptNow - sleptMilliseconds)
        sleptMilliseconds = sleptNow
    }

    // Unsafe: the events belong to the caller and are read within this call only.
    func dispatch(_ arrived: UnsafeMutableBufferPointer<epoll_event>.SubSequence) {
        for event in arrived where event.data.u64 != EpollSet.wakerKey {
            let key = event.data.u64
            guard let entry = watches[Int32(truncatingIfNeeded: key)],
                entry.generation == UInt32(truncatingIfNeeded: key >> 32)
            else { continue }
            let watch = entry.watch
            let found = Interest(events: event.events, requested: watch.interest)
            if !found.isEmpty { watch.handler(found) }
        }
        endStep()
    }

    /// Calls the handlers of due timers. Returns false when libuv has lost its descriptor.
    func runTimers() -> Bool {
        defer { endStep() }
        return timers.runDue()
    }

    func endIteration() {
        let bodies = afterwards
        afterwards = []
        for body in bodies {
            body()
            endStep()
        }
    }

    func endStep() {
        guard !afterStep.isEmpty else { return }
        let bodies = afterStep
        afterStep = []
        for body in bodies { body() }
    }

    /// Milliseconds until the next work is due; -1 for no limit.
    var timeout: Int32 {
        guard afterwards.isEmpty, afterStep.isEmpty else { return 0 }
        return timers.timeout
    }

    func becomeBroken() {
        isBroken = true
        watches = [:]
        afterwards = []
        afterStep = []
        timers.close()
        resumeWatch?.abandon()
        events.abandon()
    }

    func close() {
        resumeWatch = nil
        watches = [:]
        timers.close()
    }
}
