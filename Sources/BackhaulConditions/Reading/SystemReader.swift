internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Reads kinds of conditions, one after the other, on a thread of its own: batteries and sensors may be asked over slow
/// wires, take their time, or never answer. Confined to the loop's thread but for that.
final class SystemReader {
    /// What the thread has been told to do.
    private struct Job: Sendable {
        /// What it reads now; empty: nothing.
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

    /// `then` is called on the loop's thread when all of a `read` was read, or what it was left with.
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
            // It may have been taken by `leave`.
            let found = job.withLock { job in job.at.isEmpty && job.rest.isEmpty ? job.takeFound() : nil }
            if let found { then(found) }
        }
    }

    /// After the former one.
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

    /// It goes on with what it reads now, and with nothing else: what was found until now, and what was not begun.
    func leave() -> (found: SystemReadings, stuck: ConditionNeeds, rest: ConditionNeeds) {
        job.withLock { job in
            defer { job.rest = [] }
            return (job.takeFound() ?? SystemReadings(needs: []), job.at, job.rest)
        }
    }

    /// What is being read is not told any more. The thread ends when it has read it; nobody waits for that.
    func close() {
        watch?.cancel()
        watch = nil
    }

    deinit { watch?.cancel() }
}
