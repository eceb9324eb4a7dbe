internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// What is to be read, and what reading it again goes on from.
struct ReadingOrder: Sendable {
    var needs: ConditionNeeds
    var heatLevels: [String: ThermalState] = [:]
}

/// What was read: nil for what was not asked for.
struct SystemReadings: Sendable {
    /// Of these.
    var needs: ConditionNeeds
    var power: PowerState?
    var heat: HeatState?
    var pressure: [PressureResource: Reading<UInt8>] = [:]
    var network: NetworkState?

    static func read(_ order: ReadingOrder, in roots: ConditionRoots) -> SystemReadings {
        let system = SystemTree(root: roots.system)
        let processes = SystemTree(root: roots.processes)
        var readings = SystemReadings(needs: order.needs)
        if order.needs.contains(.power) { readings.power = PowerState.read(system) }
        if order.needs.contains(.network) {
            readings.network = NetworkState.read(system: system, processes: processes)
        }
        for resource in PressureResource.allCases where order.needs.contains(resource.need) {
            readings.pressure[resource] = resource.read(processes)
        }
        if order.needs.contains(.heat) { readings.heat = HeatState.read(system, after: order.heatLevels) }
        return readings
    }
}

/// Reads the system on a thread of its own: batteries and sensors may be asked over slow wires and take their time.
/// Confined to the loop's thread but for that.
final class SystemReader {
    private let roots: ConditionRoots
    private let worker: Worker<Void>
    private let done = Lock<[SystemReadings]>([])
    private let wakeUp: WakeUp
    private var watch: Watch?

    /// `then` is called on the loop's thread with what each `read` has found, in their order.
    init(_ loop: Loop, _ roots: ConditionRoots, then: @escaping (SystemReadings) -> Void) throws {
        self.roots = roots
        wakeUp = try WakeUp()
        worker = try Worker(name: "bh-conditions", make: {})
        let (wakeUp, done) = (wakeUp, done)
        watch = try loop.watch(wakeUp.number, .readable) { _ in
            wakeUp.clear()
            let readings: [SystemReadings] = done.withLock { list in
                defer { list = [] }
                return list
            }
            for reading in readings { then(reading) }
        }
    }

    func read(_ order: ReadingOrder) {
        let (wakeUp, done, roots) = (wakeUp, done, roots)
        worker.post {
            let readings = SystemReadings.read(order, in: roots)
            done.withLock { $0.append(readings) }
            wakeUp.set()
        }
    }

    /// What is being read is not told any more. The thread ends when it has read it; nobody waits for that.
    func close() {
        watch?.cancel()
        watch = nil
    }

    deinit { watch?.cancel() }
}
