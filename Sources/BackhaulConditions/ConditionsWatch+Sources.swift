internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Opens and closes the sources of conditions (such as the battery's files or the system bus), and decides when to read
/// them. A source is open only while a needed condition depends on it.
extension ConditionsWatch {
    /// The conditions that are read from files and from the kernel.
    static let readNeeds: ConditionSet = [
        .power, .heat, .cpuPressure, .ioPressure, .memoryPressure, .network,
    ]
    static let busNeeds: ConditionSet = [.network, .sleep]

    func needsChanged(from before: ConditionSet) {
        let added = isClosed ? [] : needs.subtracting(before)
        // `pendingNeeds` is set first. A source that is opened below may report at once that it is missing, and this
        // report removes conditions from `pendingNeeds`.
        pendingNeeds = pendingNeeds.union(added).intersection(needs)
        forget(before.subtracting(needs))
        closeSources(except: needs)
        if !added.isEmpty {
            timeoutTimer.start(milliseconds: ConditionsWatch.replyTimeout)
            openSources()
            read(added.intersection(ConditionsWatch.readNeeds))
        }
        settle()
        scheduleReading()
        refresh()
    }

    private func forget(_ gone: ConditionSet) {
        if gone.contains(.power) { power = nil }
        if gone.contains(.heat) { heat = nil }
        if gone.contains(.network) {
            network = nil
            identity = NetworkIdentity()
        }
        for resource in PressureResource.allCases where gone.contains(resource.need) { pressure[resource] = nil }
    }

    func closeSources(except needs: ConditionSet) {
        readers.forget(except: needs.union(listing?.unread ?? []))
        closeReader()
        if needs.isDisjoint(with: [.power, .heat]) {
            devices?.watch.cancel()
            devices = nil
        }
        if !needs.contains(.network) {
            routeTimer.stop()
            routes?.watch.cancel()
            routes = nil
        }
        for resource in PressureResource.allCases where !needs.contains(resource.need) { disarm(resource) }
        closeBus(except: needs)
    }

    func closeReader() {
        guard needs.isDisjoint(with: ConditionsWatch.readNeeds) else { return }
        pressureTimer.stop()
        readers.rest()
    }

    private func openSources() {
        if !needs.isDisjoint(with: [.power, .heat]) { watchDevices() }
        if needs.contains(.network) { watchRoutes() }
    }

    private func watchDevices() {
        guard devices == nil else { return }
        do throws(SystemError) {
            let events = try DeviceEvents()
            let watch = try loop.watch(events.number, .readable) { [unowned self] _ in
                let changed = events.take()
                var wanted: ConditionSet = []
                if changed.contains(.powerSupply) { wanted.insert(.power) }
                if changed.contains(.thermal) { wanted.insert(.heat) }
                read(wanted.intersection(needs))
            }
            devices = (events, watch)
        } catch {
            log(LogEntry(.warning, "\(error.description); power and heat are read every 30 seconds"))
        }
    }

    private func watchRoutes() {
        guard routes == nil else { return }
        do throws(SystemError) {
            let changes = try NetworkChanges()
            let watch = try loop.watch(changes.number, .readable) { [unowned self] _ in
                if changes.take(), !routeTimer.isRunning {
                    routeTimer.start(milliseconds: ConditionsWatch.routeDelay)
                }
            }
            routes = (changes, watch)
        } catch {
            log(LogEntry(.warning, "\(error.description); the default route is read every 30 seconds"))
        }
    }

    // MARK: - Reading

    func read(_ wanted: ConditionSet) {
        guard !wanted.isEmpty else { return }
        do {
            try readers.read(wanted)
            isUnreadable = false
        } catch {
            isUnreadable = true
            log(LogEntry(.warning, "the system's conditions cannot be read for now: \(error)"))
            scheduleReading()
        }
    }

    func hasRead(_ found: SystemReadings) {
        update {
            if needs.contains(.power), let state = found.power { power = state }
            if needs.contains(.heat), let state = found.heat { heat = state }
            if needs.contains(.network), let state = found.network { network = state }
            for (resource, value) in found.pressure where needs.contains(resource.need) {
                pressure[resource] = value
                if value.value == 0, !triggeredResources.contains(resource) { arm(resource) }
            }
            // If a kind of condition was requested again during this reading, it stays pending until the next reading.
            let isRead = found.needs.subtracting(readers.postponed.union(readers.reading))
            pendingNeeds.subtract(isRead.subtracting(isBusSettled ? [] : .network))
            settle()
        }
        listing?.take(found)
        closeReader()
        scheduleReading()
    }

    /// The needed conditions that must be read every `interval` milliseconds, because no source reports when they
    /// change.
    var polledNeeds: ConditionSet {
        var polledNeeds: ConditionSet = []
        let areDevicesReported = devices?.events.isComplete ?? false
        if needs.contains(.power), !areDevicesReported || power?.isOnBattery ?? false { polledNeeds.insert(.power) }
        if needs.contains(.heat), !areDevicesReported || heat?.hasZones ?? false { polledNeeds.insert(.heat) }
        if needs.contains(.network), routes == nil { polledNeeds.insert(.network) }
        for resource in PressureResource.allCases where needs.contains(resource.need) {
            // A pressure that the kernel does not measure now is not measured later either. So it is not polled.
            if triggers[resource] == nil, pressure[resource]?.value != nil { polledNeeds.insert(resource.need) }
        }
        if isUnreadable { polledNeeds.formUnion(needs.intersection(ConditionsWatch.readNeeds)) }
        return polledNeeds
    }

    func scheduleReading() {
        if polledNeeds.isEmpty {
            readingTimer.stop()
        } else if !readingTimer.isRunning {
            readingTimer.start(milliseconds: interval)
        }
    }

    func readAgain() {
        triggeredResources = []
        if readers.reading.isEmpty { read(polledNeeds) }
        scheduleReading()
    }

    // MARK: - Pending replies

    func settle() {
        if pendingNeeds.isEmpty { timeoutTimer.stop() }
    }

    func readingsTimedOut() {
        update { pendingNeeds = [] }
    }
}
