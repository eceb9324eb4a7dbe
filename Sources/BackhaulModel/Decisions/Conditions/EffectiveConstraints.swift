/// What holds for a task: what its session and itself have stated, with presets written out, and of both the stricter.
public struct EffectiveConstraints: Hashable, Sendable {
    public var requiresExternalPower: Bool
    public var requiresUnmetered: Bool
    /// Empty: those of session and task exclude each other, and it never runs.
    public var networks: NetworkKinds
    /// On battery; nil: any.
    public var minimumBatteryPercent: UInt8?
    /// In `.critical` nothing runs, whatever this is.
    public var maximumThermalState: ThermalState
    /// Nil: any pressure.
    public var maximumCPUPressurePercent: UInt8?
    public var maximumIOPressurePercent: UInt8?
    public var maximumMemoryPressurePercent: UInt8?
    /// Nil: as little as it may be.
    public var minimumBytesPerSecond: UInt64?
    /// Of session and task together; nil: none. May have more spans than a text may, and may cover the whole week.
    public var quietHours: QuietHours?

    /// Of each field the stricter holds. A preset of session or task is left out for a task that is past its latest
    /// start; a task of a launched host, whose session says so, is discretionary beside what itself states.
    public init(session: Constraints, task: TaskConstraints = TaskConstraints()) {
        var own = task.stated
        // Overnight is discretionary, too, and more.
        if task.isLaunched, own.preset == nil { own.preset = .discretionary }
        let withPresets = !task.isPastLatestStart
        self.init(session.expanded(withPreset: withPresets), own.expanded(withPreset: withPresets))
    }

    private init(_ one: Constraints, _ other: Constraints) {
        func stricter<Value>(_ field: KeyPath<Constraints, Value?>, _ choose: (Value, Value) -> Value) -> Value? {
            switch (one[keyPath: field], other[keyPath: field]) {
            case (let first?, let second?): choose(first, second)
            case (let first, let second): first ?? second
            }
        }
        requiresExternalPower = stricter(\.requiresExternalPower) { $0 || $1 } ?? false
        requiresUnmetered = stricter(\.requiresUnmetered) { $0 || $1 } ?? false
        networks = stricter(\.networks) { $0.intersection($1) } ?? .all
        minimumBatteryPercent = stricter(\.minimumBatteryPercent, max)
        maximumThermalState = min(stricter(\.maximumThermalState, min) ?? .serious, .serious)
        maximumCPUPressurePercent = stricter(\.maximumCPUPressurePercent, min)
        maximumIOPressurePercent = stricter(\.maximumIOPressurePercent, min)
        maximumMemoryPressurePercent = stricter(\.maximumMemoryPressurePercent, min)
        minimumBytesPerSecond = stricter(\.minimumBytesPerSecond, max)
        quietHours = stricter(\.quietHours) { QuietHours(spans: $0.spans == $1.spans ? $0.spans : $0.spans + $1.spans) }
    }

    /// Which conditions tasks depend on that have this. All but those of local origins depend on the network, for
    /// portals and budgets; all on heat and sleep.
    public func needs(isLocal: Bool = false) -> ConditionNeeds {
        var needs: ConditionNeeds = isLocal ? [.heat, .sleep] : [.heat, .sleep, .network]
        if requiresExternalPower || minimumBatteryPercent != nil { needs.insert(.power) }
        if maximumCPUPressurePercent != nil { needs.insert(.cpuPressure) }
        if maximumIOPressurePercent != nil { needs.insert(.ioPressure) }
        if maximumMemoryPressurePercent != nil { needs.insert(.memoryPressure) }
        return needs
    }

    public var needs: ConditionNeeds { needs() }

    /// Which conditions must be read before a task with this is started: only those of which it asks more than every
    /// task does, so that a program that fetches a small file opens no bus. Budgets, which are not known here, need the
    /// network, too.
    public func neededAtStart(isLocal: Bool = false) -> ConditionNeeds {
        var needs = needs(isLocal: isLocal).subtracting(.sleep)
        if maximumThermalState >= .serious { needs.remove(.heat) }
        if !requiresUnmetered, networks == .all { needs.remove(.network) }
        return needs
    }
}
