internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// What services say of the network and of system sleep.
extension ConditionsWatch {
    static let noBus = "nobody can be asked on the system's message bus: libsystemd is missing"

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

    /// One conversation for all of it: another one would give the delay of a sleep away that is being prepared.
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

    /// What it has said is kept while it is asked for more: a network does not become another one because somebody
    /// wants to know of sleep, too.
    private func busSays(_ readings: BusReadings) {
        let isWhole = readings.isSettled && readings.asked.isSuperset(of: systemBus?.wants ?? [])
        if isWhole || bus?.isSettled != true || isBusSettled { bus = readings }
        guard isWhole else { return }
        isBusSettled = true
        unanswered.remove(.sleep)
        // The kernel's own answer is waited for, too.
        if network != nil { unanswered.remove(.network) }
        settle()
    }
}
