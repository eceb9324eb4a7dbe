internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// The thread that reads conditions, and those that hang: a kind whose reading does not end keeps its thread, and the
/// others get another one, so that there is never more than one for each kind. Confined to the loop's thread.
final class SystemReaders {
    /// So long the others wait for one.
    static let patience: Int64 = 1_000
    /// After so long it is not known, until it answers after all.
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
    /// What `reader` is reading.
    private(set) var reading: ConditionNeeds = []
    /// What is to be read behind that, or when the last reading of it has ended.
    private(set) var postponed: ConditionNeeds = []
    private var hanging: [ConditionNeeds: Stuck] = [:]
    private lazy var timer = loop.timer { [unowned self] in isLate() }

    /// `then` is called in a later turn with what was found, part by part.
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

    /// Kinds whose readings do not end.
    var stuck: ConditionNeeds { hanging.keys.reduce(into: []) { $0.formUnion($1) } }

    /// One reading at a time: what is wanted meanwhile is read once more behind it.
    func read(_ wanted: ConditionNeeds) throws {
        postponed.formUnion(wanted)
        try start()
    }

    /// Nobody waits for more than these any more.
    func forget(except needs: ConditionNeeds) { postponed.formIntersection(needs) }

    /// Whoever reads goes on, and so do those that hang: nobody would know of them.
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
        // Whose answer it is: the reader is not there before its closure.
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
        // It has ended in this moment, or not begun.
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
        // Without a thread they are read with the next that is wanted.
        try? start()
        then(found)
    }
}
