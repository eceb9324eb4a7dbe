internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Reads kinds of conditions, one after the other, on its own thread. Batteries and sensors may be behind slow buses
/// and may never reply. All methods are confined to the loop's thread.
final class SystemReader {
    /// The work of the thread.
    private struct Job: Sendable {
        /// The kind that the thread reads now; empty if none.
        var at: ConditionNeeds = []
        var rest: ConditionNeeds = []
        var found = SystemReadings(needs: [])

        mutating func next() -> ConditionNeeds? {
            let kind = rest.kinds.first
            at = kind ?? []
            rest.subtract(at)
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
    private let wakeUp: WakeUp
    private var watch: Watch?

    /// Calls `then` on the loop's thread when all kinds of a `read` were read, or those that `leave` did not take.
    init(
        _ loop: Loop, _ roots: ConditionRoots, _ readSystem: @escaping ReadSystem,
        then: @escaping (SystemReadings) -> Void
    ) throws {
        self.roots = roots
        self.readSystem = readSystem
        wakeUp = try WakeUp()
        worker = try Worker(name: "bh-conditions", make: {})
        let (wakeUp, job) = (wakeUp, job)
        watch = try loop.watch(wakeUp.number, .readable) { _ in
            wakeUp.clear()
            // `leave` may have taken the readings.
            let found = job.withLock { job in job.at.isEmpty && job.rest.isEmpty ? job.takeFound() : nil }
            if let found { then(found) }
        }
    }

    /// Reads these kinds. The reading before must have ended.
    func read(_ order: ReadingOrder) {
        let (wakeUp, job, roots, readSystem) = (wakeUp, job, roots, readSystem)
        job.change { $0.rest = order.needs }
        worker.post {
            while let kind = job.withLock({ $0.next() }) {
                let readings = readSystem(ReadingOrder(needs: kind, heatLevels: order.heatLevels), roots)
                job.change { $0.found.add(readings) }
            }
            wakeUp.set()
        }
    }

    /// Stops after the kind that is read now. Returns the readings so far, the current kind, and the kinds that were
    /// not begun.
    func leave() -> (found: SystemReadings, stuck: ConditionNeeds, rest: ConditionNeeds) {
        job.withLock { job in
            defer { job.rest = [] }
            return (job.takeFound() ?? SystemReadings(needs: []), job.at, job.rest)
        }
    }

    /// Stops reports. The thread ends when its reading has ended, and no other thread waits for it.
    func close() {
        watch?.cancel()
        watch = nil
    }

    deinit { watch?.cancel() }
}
