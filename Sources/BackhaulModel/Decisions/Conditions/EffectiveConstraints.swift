/// The constraints that apply to a task (download or upload). They combine the constraints of the task and of its
/// session. Presets, which are names for several constraints, are replaced by these constraints. For each field, the
/// stricter value counts.
public struct EffectiveConstraints: Hashable, Sendable {
    public var requiresExternalPower: Bool
    public var requiresUnmetered: Bool
    /// The allowed networks. If this set is empty, session and task exclude each other's networks, and the task never
    /// runs.
    public var networks: NetworkKinds
    /// The lowest charge at which the task runs on battery power; nil if any charge is enough.
    public var minimumBatteryPercent: UInt8?
    /// The highest state in which the task runs. It is at most `.serious`, because no task runs in `.critical`.
    public var maximumThermalState: ThermalState
    /// The highest pressure at which the task runs: the share of time in which processes wait for a processor. Nil if
    /// the task runs at any pressure. The next two properties limit the pressure of disks and memory.
    public var maximumCPUPressurePercent: UInt8?
    public var maximumIOPressurePercent: UInt8?
    public var maximumMemoryPressurePercent: UInt8?
    /// The lowest rate at which the task continues; nil if it continues at any rate.
    public var minimumBytesPerSecond: UInt64?
    /// The quiet hours (in which the task does not run) of session and task together; nil if there are none. They may
    /// have more than `QuietHours.spanLimit` spans, and may cover the whole week.
    public var quietHours: QuietHours?

    /// After the latest start of the task (`isPastLatestStart`), the presets of session and task are ignored.
    /// `isLaunched` is set if the task comes from a program that the engine has started, and the session makes such
    /// tasks discretionary. The task then has the preset `discretionary` in addition to its own constraints.
    public init(session: Constraints, task: TaskConstraints = TaskConstraints()) {
        var own = task.stated
        // The preset `overnight` includes `discretionary`.
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

    /// The conditions that matter to tasks with these constraints. Heat and sleep matter to all tasks. Because of
    /// portals (login pages of networks) and budgets (limits of the bytes on a network), the network matters to all
    /// tasks except tasks of local origins.
    public func needs(isLocal: Bool = false) -> ConditionSet {
        var needs: ConditionSet = isLocal ? [.heat, .sleep] : [.heat, .sleep, .network]
        if requiresExternalPower || minimumBatteryPercent != nil { needs.insert(.power) }
        if maximumCPUPressurePercent != nil { needs.insert(.cpuPressure) }
        if maximumIOPressurePercent != nil { needs.insert(.ioPressure) }
        if maximumMemoryPressurePercent != nil { needs.insert(.memoryPressure) }
        return needs
    }

    public var needs: ConditionSet { needs() }

    /// The conditions that must be read before a task with these constraints starts. These are only the conditions for
    /// which the task demands more than the default. The other conditions in `needs` are read when transfers have run
    /// for a while. So a program that only downloads a small file does not connect to D-Bus, which reports some of
    /// these conditions. A budget also needs the network, but this function does not know the budgets.
    public func neededAtStart(isLocal: Bool = false) -> ConditionSet {
        var needs = needs(isLocal: isLocal).subtracting(.sleep)
        if maximumThermalState >= .serious { needs.remove(.heat) }
        if !requiresUnmetered, networks == .all { needs.remove(.network) }
        return needs
    }
}
