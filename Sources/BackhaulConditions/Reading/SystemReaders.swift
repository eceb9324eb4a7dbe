internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// The thread that reads conditions, and threads that hang. A kind whose reading does not end keeps its thread, and the
/// other kinds get a new one. So there is at most one thread for each kind. Confined to the loop's thread.
final class SystemReaders {
    /// How long a reading may delay the others, in milliseconds.
    static let patience: Int64 = 1_000
    /// After this many milliseconds a kind counts as unknown, until its reading ends.
    static let longest: Int64 = 10_000
    static let silence = "it has not answered for ten seconds"

    private struct Stuck {
        var reader: SystemReader
        var timer: LoopTimer
    }

    private let loop: Loop
    private let roots: ConditionRoots
    private let readSystem: ReadSystem
    private let heatLevels: () -> [String: ThermalState]
    private let then: (SystemReadings) -> Void
    private(set) var reader: SystemReader?
    /// The kinds that `reader` reads.
    private(set) var reading: ConditionNeeds = []
    /// The kinds to read next, or when their last reading has ended.
    private(set) var postponed: ConditionNeeds = []
    private var hanging: [ConditionNeeds: Stuck] = [:]
    private lazy var timer = loop.timer { [unowned self] in isLate() }

    /// Calls `then` in a later iteration of the loop, with the readings in parts.
    init(
        _ loop: Loop, _ roots: ConditionRoots, _ readSystem: @escaping ReadSystem,
        heatLevels: @escaping () -> [String: ThermalState], then: @escaping (SystemReadings) -> Void
    ) {
        self.loop = loop
        self.roots = roots
        self.readSystem = readSystem
        self.heatLevels = heatLevels
        self.then = then
    }

    /// The kinds whose readings hang.
    var stuck: ConditionNeeds { hanging.keys.reduce(into: []) { $0.formUnion($1) } }

    /// Reads these kinds. A kind that is being read is read again afterwards.
    func read(_ wanted: ConditionNeeds) throws {
        postponed.formUnion(wanted)
        try start()
    }

    /// Drops postponed kinds other than these.
    func forget(except needs: ConditionNeeds) { postponed.formIntersection(needs) }

    /// Ends the idle thread. A thread that reads or hangs continues, because its readings would be lost.
    func rest() {
        guard reading.isEmpty, postponed.isSubset(of: stuck) else { return }
        reader?.close()
        reader = nil
    }

    func close() {
        timer.stop()
        reader?.close()
        for one in hanging.values {
            one.timer.stop()
            one.reader.close()
        }
        (reader, reading, postponed, hanging) = (nil, [], [], [:])
    }

    private func start() throws {
        let now = postponed.subtracting(stuck)
        guard reading.isEmpty, !now.isEmpty else { return }
        let reader = try reader ?? make()
        self.reader = reader
        reading = now
        postponed.subtract(now)
        timer.start(milliseconds: SystemReaders.patience)
        reader.read(ReadingOrder(needs: now, heatLevels: heatLevels()))
    }

    private func make() throws -> SystemReader {
        // The closure needs the reader, which does not exist before the closure.
        final class Name { weak var reader: SystemReader? }
        let name = Name()
        let reader = try SystemReader(loop, roots, readSystem) { [unowned self] found in
            if let reader = name.reader { hasRead(found, by: reader) }
        }
        name.reader = reader
        return reader
    }

    private func hasRead(_ found: SystemReadings, by reader: SystemReader) {
        if let kind = hanging.first(where: { $0.value.reader === reader })?.key {
            hanging.removeValue(forKey: kind)?.timer.stop()
            reader.close()
        } else {
            timer.stop()
            reading = []
        }
        goOn(with: found)
    }

    private func isLate() {
        guard let reader else { return }
        let (found, kind, rest) = reader.leave()
        postponed.formUnion(rest)
        // The reading has just ended, or has not begun.
        if kind.isEmpty { return hasRead(found, by: reader) }
        let timer = loop.timer { [unowned self] in
            goOn(with: .unknown(kind, SystemReaders.silence))
        }
        timer.start(milliseconds: SystemReaders.longest - SystemReaders.patience)
        hanging[kind] = Stuck(reader: reader, timer: timer)
        self.reader = nil
        reading = []
        goOn(with: found)
    }

    private func goOn(with found: SystemReadings) {
        // If no thread can be made, the kinds are read with the next request.
        try? start()
        then(found)
    }
}
