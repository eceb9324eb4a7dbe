internal import BackhaulLoop
public import BackhaulModel
internal import BackhaulPlatform

extension ConditionsWatch {
    /// Reads all conditions once, for a listing. Sources that nothing needs are closed afterwards. Calls `then` on the
    /// loop's thread, in a later iteration and within two seconds. A condition that has no reading by then is unknown,
    /// and its source says why.
    public func readAll(then: @escaping (Conditions) -> Void) {
        guard !isClosed else { return }
        if let listing { return listing.waiting.append(then) }
        let listing = ConditionsListing(then)
        self.listing = listing
        let missing = ConditionNeeds.all.subtracting(needs).union(unanswered)
        let files = missing.intersection(ConditionsWatch.readNeeds)
        // Kinds that hang already are not awaited.
        listing.unread = files.subtracting(readers.stuck)
        read(listing.unread)
        if isUnreadable { listing.unread = [] }
        listing.read(missing, loop, roots, startBus) { [weak self, weak listing] in
            guard let self, let listing, self.listing === listing else { return }
            self.listing = nil
            closeReader()
            let conditions = combined(with: listing)
            for then in listing.waiting { then(conditions) }
        }
    }

    private func combined(with listing: ConditionsListing) -> Conditions {
        var found = SystemReadings.unknown(.all, "it has not answered within two seconds")
        found.add(listing.found)
        var result = Conditions.combined(
            power: found.power, heat: found.heat, pressure: found.pressure, network: found.network,
            bus: listing.busReadings, metered: metered)
        result.take(current, needs.subtracting(unanswered))
        return result
    }
}

/// One reading of all conditions, for all callers that wait for it. Confined to the loop's thread.
final class ConditionsListing {
    var waiting: [(Conditions) -> Void]
    /// The kinds that are being read from files.
    var unread: ConditionNeeds = []
    private(set) var found = SystemReadings(needs: [])
    private(set) var busReadings: BusReadings?
    private var isBusAnswered = false
    private var bus: (bus: any SystemBus, watch: Watch)?
    private var timer: LoopTimer?
    private var finished: () -> Void = {}

    init(_ first: @escaping (Conditions) -> Void) { waiting = [first] }

    func read(
        _ wanted: ConditionNeeds, _ loop: Loop, _ roots: ConditionRoots, _ startBus: SystemBusStart,
        then: @escaping () -> Void
    ) {
        finished = then
        // The bus is called first, because it can reply while files are read.
        askBus(wanted.intersection(ConditionsWatch.busNeeds), loop, roots, startBus)
        let isComplete = unread.isEmpty && isBusAnswered
        timer = loop.timer { [unowned self] in finish() }
        timer?.start(milliseconds: isComplete ? 0 : ConditionsWatch.patience)
    }

    private func askBus(
        _ wants: ConditionNeeds, _ loop: Loop, _ roots: ConditionRoots, _ startBus: SystemBusStart
    ) {
        isBusAnswered = true
        guard !wants.isEmpty else { return }
        guard let started = startBus(roots.busAddress, wants) else {
            busReadings = .unknown(ConditionsWatch.noBus)
            return
        }
        do throws(SystemError) {
            let watch = try loop.watch(started.number, .readable) { [unowned self] _ in
                let readings = started.takeReadings()
                busReadings = readings
                isBusAnswered = readings.isSettled
                finishIfComplete()
            }
            bus = (started, watch)
            busReadings = .unknown("the bus has not answered within two seconds")
            isBusAnswered = false
        } catch {
            started.close()
            busReadings = .unknown(error.description)
        }
    }

    func take(_ readings: SystemReadings) {
        found.add(readings)
        unread.subtract(readings.needs)
        finishIfComplete()
    }

    private func finishIfComplete() {
        if unread.isEmpty, isBusAnswered { finish() }
    }

    private func finish() {
        close()
        finished()
    }

    func close() {
        timer?.stop()
        bus?.watch.cancel()
        bus?.bus.close()
        bus = nil
    }
}
