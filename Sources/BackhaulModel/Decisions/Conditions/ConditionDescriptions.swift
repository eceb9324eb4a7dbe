/// The conditions as listings show them.
public enum ConditionDescriptions {
    /// Returns one entry for each kind of condition, in the order of their numbers. `bytesPerSecond`: the throughput of
    /// all transfers together; nil if no transfer is measured. `since`: the time at which each condition got its
    /// present value, in Unix milliseconds. For a condition without an entry in `since`, `now` is used.
    public static func infos(
        _ conditions: Conditions, bytesPerSecond: UInt64?, since: [ConditionKind: Int64], now: Int64
    ) -> [ConditionInfo] {
        ConditionKind.allCases.map { kind in
            let shown = shown(kind, conditions, bytesPerSecond)
            return ConditionInfo(
                kind: kind, isKnown: shown.value != nil, value: shown.value ?? 0,
                name: kind == .network ? conditions.network.value?.name : nil,
                text: shown.value == nil && shown.text.isEmpty ? "cannot be read" : shown.text, source: shown.source,
                sinceMilliseconds: since[kind] ?? now)
        }
    }

    /// Returns the time at which each condition got its present value, in Unix milliseconds. For a condition that has
    /// changed, this time is `now`. If only the source of a condition changes, its time stays the same.
    public static func since(
        _ since: [ConditionKind: Int64], from former: Conditions?, to conditions: Conditions, now: Int64
    ) -> [ConditionKind: Int64] {
        var times = since
        for kind in ConditionKind.allCases where kind != .throughput {
            guard let former, times[kind] != nil else {
                times[kind] = now
                continue
            }
            let (before, after) = (shown(kind, former, nil), shown(kind, conditions, nil))
            let hasMoved = kind == .network && former.network.value != conditions.network.value
            if before.value != after.value || hasMoved { times[kind] = now }
        }
        return times
    }

    private typealias Shown = (value: Int64?, text: String, source: String)

    private static func shown(_ kind: ConditionKind, _ conditions: Conditions, _ bytesPerSecond: UInt64?) -> Shown {
        switch kind {
        case .externalPower:
            of(conditions.externalPower, { $0 ? 1 : 0 }) { $0 ? "on external power" : "on battery" }
        case .battery: of(conditions.batteryPercent, Int64.init) { "\($0) %" }
        case .thermalState: of(conditions.thermalState, { Int64($0.rawValue) }, \.name)
        case .cpuPressure: of(conditions.cpuPressurePercent, Int64.init, pressure)
        case .ioPressure: of(conditions.ioPressurePercent, Int64.init, pressure)
        case .memoryPressure: of(conditions.memoryPressurePercent, Int64.init, pressure)
        case .network: network(conditions)
        case .metered: of(conditions.isMetered, { $0 ? 1 : 0 }) { $0 ? "metered" : "unmetered" }
        case .connectivity: of(conditions.connectivity, { Int64($0.rawValue) }, text)
        case .sleep: of(conditions.isPreparingForSleep, { $0 ? 1 : 0 }) { $0 ? "about to sleep" : "awake" }
        case .throughput:
            if let bytesPerSecond {
                (Int64(clamping: bytesPerSecond), QuantityFormatter.rate(bytesPerSecond), "measured")
            } else {
                (nil, "nothing to measure", "no transfer runs")
            }
        }
    }

    private static func of<Value>(
        _ reading: Reading<Value>, _ number: (Value) -> Int64, _ text: (Value) -> String
    ) -> Shown {
        var shown = (value: reading.value.map(number), text: reading.value.map(text) ?? "", source: reading.source)
        if let settling = reading.settling {
            shown.text += " until better has lasted \(QuantityFormatter.duration(settling.durationMilliseconds))"
        }
        return shown
    }

    private static func network(_ conditions: Conditions) -> Shown {
        if let network = conditions.network.value {
            let kind = QuantityFormatter.list(network.kind.names, "or")
            return (Int64(network.kind.rawValue), "\(network.name) (\(kind))", conditions.network.source)
        }
        // If there is no default route, there is certainly no network.
        let isNone = conditions.connectivity.value == ConnectivityState.none
        guard isNone else { return (nil, "", conditions.network.source) }
        return (0, "no default route", conditions.connectivity.source)
    }

    private static func pressure(_ percent: UInt8) -> String { "\(percent) % of the last seconds" }

    private static func text(_ state: ConnectivityState) -> String {
        switch state {
        case .none: "no default route"
        case .portal: "a portal asks for a login"
        case .limited: "the uplink is dead"
        case .full: "full"
        }
    }
}
