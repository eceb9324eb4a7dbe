internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// What services on the system bus report about the network and about system sleep.
extension ConditionsWatch {
    static let busMissing = "the system's message bus cannot be used: libsystemd is missing"

    func openBus() {
        let subscriptions = needs.intersection(ConditionsWatch.busNeeds)
        guard systemBus == nil, !subscriptions.isEmpty else { return }
        isBusSettled = false
        guard let started = startBus(roots.busAddress, subscriptions) else {
            return busReadingsChanged(.unknown(ConditionsWatch.busMissing))
        }
        do throws(SystemError) {
            let watch = try loop.watch(started.number, .readable) { [unowned self] _ in
                let readings = started.takeReadings()
                update { busReadingsChanged(readings) }
            }
            systemBus = (started, subscriptions, watch)
        } catch {
            started.close()
            busReadingsChanged(.unknown(error.description))
        }
    }

    /// Subscribes only to those conditions of the bus that are needed. If no condition of the bus is needed, closes the
    /// connection. Otherwise opens a connection, or keeps the open one. The open connection is not replaced: if it were
    /// closed while the system prepares for sleep, the delay of the sleep would end.
    func closeBus(except needs: ConditionSet) {
        let subscriptions = needs.intersection(ConditionsWatch.busNeeds)
        if subscriptions.isEmpty {
            systemBus?.watch.cancel()
            systemBus?.bus.close()
            systemBus = nil
            bus = nil
            isBusSettled = true
        } else if let open = systemBus {
            guard open.subscriptions != subscriptions else { return }
            systemBus?.subscriptions = subscriptions
            if !subscriptions.isSubset(of: open.subscriptions) { isBusSettled = false }
            open.bus.subscribe(subscriptions)
        } else if !isClosed {
            openBus()
        }
    }

    /// Stores readings of the bus. After a new subscription, the readings are incomplete until each subscription has a
    /// reply. Until then, the earlier readings stay.
    private func busReadingsChanged(_ readings: BusReadings) {
        let isWhole = readings.isSettled && readings.requested.isSuperset(of: systemBus?.subscriptions ?? [])
        if isWhole || bus?.isSettled != true || isBusSettled { bus = readings }
        guard isWhole else { return }
        isBusSettled = true
        pendingNeeds.remove(.sleep)
        // `network` is what the kernel reports about the network. Until the kernel was read, the network stays pending.
        if network != nil { pendingNeeds.remove(.network) }
        settle()
    }
}
