internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// The kernel's triggers, which report pressure. *Pressure* is the share of time in which processes wait for a
/// resource, such as memory. The kernel sends one notification when pressure begins. After the notification, the
/// pressure is read at intervals until the pressure has ended.
extension ConditionsWatch {
    func arm(_ resource: PressureResource) {
        guard triggers[resource] == nil,
            let trigger = PressureTrigger(resource, in: SystemTree(root: roots.processes))
        else { return }
        let watch = try? loop.watch(trigger.number, .urgent) { [unowned self] _ in
            disarm(resource)
            triggeredResources.insert(resource)
            pressureTimer.start(milliseconds: ConditionsWatch.pressureDelay)
            scheduleReading()
        }
        if let watch { triggers[resource] = (trigger, watch) }
    }

    func readTriggered() {
        let triggeredResources = triggeredResources.reduce(into: ConditionSet()) { $0.formUnion($1.need) }
        read(triggeredResources.intersection(needs))
    }

    func disarm(_ resource: PressureResource) {
        triggers[resource]?.watch.cancel()
        triggers[resource] = nil
    }
}
