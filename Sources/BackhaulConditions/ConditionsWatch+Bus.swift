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

    /// What it has said is kept when another connection takes its place: a network does not become another one because
    /// somebody wants to know of sleep, too.
    func closeBus(except needs: ConditionNeeds) {
        let wants = needs.intersection(ConditionsWatch.busNeeds)
        if let open = systemBus, open.wants != wants {
            open.watch.cancel()
            open.bus.close()
            systemBus = nil
        }
        if wants.isEmpty {
            bus = nil
            isBusSettled = true
        } else if systemBus == nil, !isClosed {
            openBus()
        }
    }

    private func busSays(_ readings: BusReadings) {
        if readings.isSettled || bus?.isSettled != true || isBusSettled { bus = readings }
        guard readings.isSettled else { return }
        isBusSettled = true
        unanswered.remove(.sleep)
        // The kernel's own answer is waited for, too.
        if network != nil { unanswered.remove(.network) }
        settle()
    }
}
