internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Owns the thread that reads conditions, and the threads that hang. If the reading of one kind of condition hangs,
/// this kind keeps the thread, and the other kinds get a new thread. So there is at most one thread for each kind. This
/// object is used only on the thread of the event loop.
final class SystemReaders {
    /// If a reading takes longer than this many milliseconds, the kinds that wait for it get a new thread.
    static let switchDelay: Int64 = 1_000
    /// If a reading takes longer than this many milliseconds, its kind counts as unknown until the reading ends.
    static let readingTimeout: Int64 = 10_000
    static let timeoutText = "it has not replied for ten seconds"

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
    private(set) var reading: ConditionSet = []
    /// The kinds to read next. A kind that is requested again during its reading stays here until that reading has
    /// ended, even if the reading hangs.
    private(set) var postponed: ConditionSet = []
    private var stuckReaders: [ConditionSet: Stuck] = [:]
    private lazy var timer = loop.timer { [unowned self] in readingIsLate() }

    /// Calls `then` in later iterations of the loop. If the readings arrive in several parts, `then` gets each part in
    /// a separate call.
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
    var stuck: ConditionSet { stuckReaders.keys.reduce(into: []) { $0.formUnion($1) } }

    /// Reads these kinds. A kind that is being read is read again afterwards.
    func read(_ wanted: ConditionSet) throws {
        postponed.formUnion(wanted)
        try start()
    }

    /// Drops the postponed kinds that are not in `needs`.
    func forget(except needs: ConditionSet) { postponed.formIntersection(needs) }

    /// Ends the thread if it is idle. A thread that reads or hangs continues, because otherwise its readings would be
    /// lost.
    func rest() {
        guard reading.isEmpty, postponed.isSubset(of: stuck) else { return }
        reader?.close()
        reader = nil
    }

    func close() {
        timer.stop()
        reader?.close()
        for one in stuckReaders.values {
            one.timer.stop()
            one.reader.close()
        }
        (reader, reading, postponed, stuckReaders) = (nil, [], [], [:])
    }

    private func start() throws {
        let now = postponed.subtracting(stuck)
        guard reading.isEmpty, !now.isEmpty else { return }
        let reader = try reader ?? make()
        self.reader = reader
        reading = now
        postponed.subtract(now)
        timer.start(milliseconds: SystemReaders.switchDelay)
        reader.read(ReadingRequest(needs: now, heatLevels: heatLevels()))
    }

    private func make() throws -> SystemReader {
        // The closure needs the reader, which is made after the closure.
        final class Name { weak var reader: SystemReader? }
        let name = Name()
        let reader = try SystemReader(loop, roots, readSystem) { [unowned self] found in
            if let reader = name.reader { hasRead(found, by: reader) }
        }
        name.reader = reader
        return reader
    }

    private func hasRead(_ found: SystemReadings, by reader: SystemReader) {
        if let kind = stuckReaders.first(where: { $0.value.reader === reader })?.key {
            stuckReaders.removeValue(forKey: kind)?.timer.stop()
            reader.close()
        } else {
            timer.stop()
            reading = []
        }
        continueReading(with: found)
    }

    private func readingIsLate() {
        guard let reader else { return }
        let (found, kind, rest) = reader.detach()
        postponed.formUnion(rest)
        // If `kind` is empty, no reading hangs: the reading has just ended, or has not begun. So the thread is kept.
        if kind.isEmpty { return hasRead(found, by: reader) }
        let timer = loop.timer { [unowned self] in
            continueReading(with: .unknown(kind, SystemReaders.timeoutText))
        }
        timer.start(milliseconds: SystemReaders.readingTimeout - SystemReaders.switchDelay)
        stuckReaders[kind] = Stuck(reader: reader, timer: timer)
        self.reader = nil
        reading = []
        continueReading(with: found)
    }

    private func continueReading(with found: SystemReadings) {
        // If no thread can be made, the kinds are read with the next request.
        try? start()
        then(found)
    }
}
