internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Reads conditions, one kind after the other, on its own thread. Batteries and sensors may be behind slow buses, and
/// may never reply. Only the thread of the event loop calls the methods.
final class SystemReader {
    /// The work of the thread.
    private struct Job: Sendable {
        /// The kind that the thread reads now; empty if none.
        var current: ConditionSet = []
        var remaining: ConditionSet = []
        var found = SystemReadings(needs: [])

        mutating func next() -> ConditionSet? {
            let kind = remaining.kinds.first
            current = kind ?? []
            remaining.subtract(current)
            return kind
        }

        mutating func takeFound() -> SystemReadings? {
            defer { found = SystemReadings(needs: []) }
            return found.needs.isEmpty ? nil : found
        }
    }

    private let roots: ConditionRoots
    private let readSystem: ReadSystem
    private let worker: Worker<Void>
    private let job = Lock(Job())
    private let wakeUp: EventFD
    private var watch: Watch?

    /// After each call of `read`, calls `then` on the thread of the event loop when all requested kinds were read. If
    /// `detach` is called earlier, `then` gets only the kind that the thread was reading at that time.
    init(
        _ loop: Loop, _ roots: ConditionRoots, _ readSystem: @escaping ReadSystem,
        then: @escaping (SystemReadings) -> Void
    ) throws {
        self.roots = roots
        self.readSystem = readSystem
        wakeUp = try EventFD()
        worker = try Worker(name: "bh-conditions", make: {})
        let (wakeUp, job) = (wakeUp, job)
        watch = try loop.watch(wakeUp.number, .readable) { _ in
            wakeUp.clear()
            // `detach` may have taken the readings.
            let found = job.withLock { job in job.current.isEmpty && job.remaining.isEmpty ? job.takeFound() : nil }
            if let found { then(found) }
        }
    }

    /// Starts to read these kinds. The previous `read` must have ended.
    func read(_ order: ReadingRequest) {
        let (wakeUp, job, roots, readSystem) = (wakeUp, job, roots, readSystem)
        job.change { $0.remaining = order.needs }
        worker.post {
            while let kind = job.withLock({ $0.next() }) {
                let readings = readSystem(ReadingRequest(needs: kind, heatLevels: order.heatLevels), roots)
                job.change { $0.found.add(readings) }
            }
            wakeUp.set()
        }
    }

    /// Makes the thread stop after the kind that it reads now. Returns the finished readings, the kind that the thread
    /// reads now, and the kinds that it has not begun.
    func detach() -> (found: SystemReadings, stuck: ConditionSet, remaining: ConditionSet) {
        job.withLock { job in
            defer { job.remaining = [] }
            return (job.takeFound() ?? SystemReadings(needs: []), job.current, job.remaining)
        }
    }

    /// Stops the calls of `then`. This call does not wait for the thread. When this object is released, the thread
    /// finishes its readings and ends.
    func close() {
        watch?.cancel()
        watch = nil
    }

    deinit { watch?.cancel() }
}
