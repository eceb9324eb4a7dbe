internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// The kernel notifies once when pressure begins. Then pressure is read until it is gone.
extension ConditionsWatch {
    func arm(_ resource: PressureResource) {
        guard triggers[resource] == nil,
            let trigger = PressureTrigger(resource, in: SystemTree(root: roots.processes))
        else { return }
        let watch = try? loop.watch(trigger.number, .urgent) { [unowned self] _ in
            disarm(resource)
            felt.insert(resource)
            pressureTimer.start(milliseconds: ConditionsWatch.pressureDelay)
            planReading()
        }
        if let watch { triggers[resource] = (trigger, watch) }
    }

    func readFelt() {
        let felt = felt.reduce(into: ConditionNeeds()) { $0.formUnion($1.need) }
        read(felt.intersection(needs))
    }

    func disarm(_ resource: PressureResource) {
        triggers[resource]?.watch.cancel()
        triggers[resource] = nil
    }
}
