internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// The readings of services on the system bus: network and system sleep.
extension ConditionsWatch {
    static let noBus = "the system's message bus cannot be used: libsystemd is missing"

    func openBus() {
        let wants = needs.intersection(ConditionsWatch.busNeeds)
        guard systemBus == nil, !wants.isEmpty else { return }
        isBusSettled = false
        guard let started = startBus(roots.busAddress, wants) else {
            return busSays(.unknown(ConditionsWatch.noBus))
        }
        do throws(SystemError) {
            let watch = try loop.watch(started.number, .readable) { [unowned self] _ in
                let readings = started.takeReadings()
                tell { busSays(readings) }
            }
            systemBus = (started, wants, watch)
        } catch {
            started.close()
            busSays(.unknown(error.description))
        }
    }

    /// Adapts the connection to the needs, or closes it. All needs share one connection: replacing it would release the
    /// delay of a sleep that is being prepared.
    func closeBus(except needs: ConditionNeeds) {
        let wants = needs.intersection(ConditionsWatch.busNeeds)
        if wants.isEmpty {
            systemBus?.watch.cancel()
            systemBus?.bus.close()
            systemBus = nil
            bus = nil
            isBusSettled = true
        } else if let open = systemBus {
            guard open.wants != wants else { return }
            systemBus?.wants = wants
            if !wants.isSubset(of: open.wants) { isBusSettled = false }
            open.bus.want(wants)
        } else if !isClosed {
            openBus()
        }
    }

    /// Stores readings of the bus. Earlier readings stay until all that is wanted has a reply. Otherwise the network
    /// would seem to change when sleep becomes needed too.
    private func busSays(_ readings: BusReadings) {
        let isWhole = readings.isSettled && readings.asked.isSuperset(of: systemBus?.wants ?? [])
        if isWhole || bus?.isSettled != true || isBusSettled { bus = readings }
        guard isWhole else { return }
        isBusSettled = true
        unanswered.remove(.sleep)
        // The network also needs the kernel's reading.
        if network != nil { unanswered.remove(.network) }
        settle()
    }
}
