internal import BackhaulLoop
public import BackhaulModel
internal import BackhaulPlatform

extension ConditionsWatch {
    /// Reads all conditions one time, for a listing. Afterwards, the sources of conditions that are not in `needs` are
    /// closed. Calls `then` on the thread of the event loop, in a later iteration and within two seconds. If a
    /// condition has no reading after two seconds, the listing shows it as unknown, with the reason.
    public func readAll(then: @escaping (Conditions) -> Void) {
        guard !isClosed else { return }
        if let listing { return listing.waiting.append(then) }
        let listing = ConditionsListing(then)
        self.listing = listing
        let missing = ConditionSet.all.subtracting(needs).union(pendingNeeds)
        let files = missing.intersection(ConditionsWatch.readNeeds)
        // If an earlier reading of a condition still hangs, the listing does not wait for this condition.
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
        var found = SystemReadings.unknown(.all, "it has not replied within two seconds")
        found.add(listing.found)
        var result = Conditions.combined(
            power: found.power, heat: found.heat, pressure: found.pressure, network: found.network,
            bus: listing.busReadings, metered: metered)
        result.take(current, needs.subtracting(pendingNeeds))
        return result
    }
}

/// One reading of all conditions, for all callers that wait for it. It is used only on the thread of the event loop.
final class ConditionsListing {
    var waiting: [(Conditions) -> Void]
    /// The kinds of conditions that are still being read from files.
    var unread: ConditionSet = []
    private(set) var found = SystemReadings(needs: [])
    private(set) var busReadings: BusReadings?
    private var hasBusReplied = false
    private var bus: (bus: any SystemBus, watch: Watch)?
    private var timer: LoopTimer?
    private var finished: () -> Void = {}

    init(_ first: @escaping (Conditions) -> Void) { waiting = [first] }

    func read(
        _ wanted: ConditionSet, _ loop: Loop, _ roots: ConditionRoots, _ startBus: SystemBusFactory,
        then: @escaping () -> Void
    ) {
        finished = then
        // The bus is called first, because it can reply while files are read.
        readBus(wanted.intersection(ConditionsWatch.busNeeds), loop, roots, startBus)
        let isComplete = unread.isEmpty && hasBusReplied
        timer = loop.timer { [unowned self] in finish() }
        timer?.start(milliseconds: isComplete ? 0 : ConditionsWatch.replyTimeout)
    }

    private func readBus(
        _ subscriptions: ConditionSet, _ loop: Loop, _ roots: ConditionRoots, _ startBus: SystemBusFactory
    ) {
        hasBusReplied = true
        guard !subscriptions.isEmpty else { return }
        guard let started = startBus(roots.busAddress, subscriptions) else {
            busReadings = .unknown(ConditionsWatch.busMissing)
            return
        }
        do throws(SystemError) {
            let watch = try loop.watch(started.number, .readable) { [unowned self] _ in
                let readings = started.takeReadings()
                busReadings = readings
                hasBusReplied = readings.isSettled
                finishIfComplete()
            }
            bus = (started, watch)
            busReadings = .unknown("the bus has not replied within two seconds")
            hasBusReplied = false
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
        if unread.isEmpty, hasBusReplied { finish() }
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
