/// A named set of constraints: `BH_PRESET_…`.
public enum ConstraintPreset: Int32, Sendable, CaseIterable {
    case discretionary = 1
    case overnight = 2
}

/// The constraints of a session or a task, as the host stated them: the fields of `bh_session_configuration` and
/// `bh_policy` from `preset` on. A field is nil if the host did not state it.
public struct Constraints: Hashable, Sendable {
    public var preset: ConstraintPreset?
    public var requiresExternalPower: Bool?
    public var requiresUnmetered: Bool?
    public var networks: NetworkKinds?
    /// A percentage from 1 to 100.
    public var minimumBatteryPercent: UInt8?
    public var maximumThermalState: ThermalState?
    /// A percentage from 1 to 100, like the next two properties.
    public var maximumCPUPressurePercent: UInt8?
    public var maximumIOPressurePercent: UInt8?
    public var maximumMemoryPressurePercent: UInt8?
    public var minimumBytesPerSecond: UInt64?
    public var quietHours: QuietHours?

    public init() {}

    public static let none = Constraints()

    public mutating func visitFields<Visitor: FieldVisitor>(with visitor: inout Visitor) throws(Visitor.Problem) {
        try visitor.field(&preset, "constraints.preset")
        try visitor.field(&requiresExternalPower, "constraints.requires_external_power")
        try visitor.field(&requiresUnmetered, "constraints.requires_unmetered")
        try visitor.field(&networks, "constraints.networks")
        try visitor.field(&minimumBatteryPercent, "constraints.minimum_battery_percent", 1...100)
        try visitor.field(&maximumThermalState, "constraints.maximum_thermal_state")
        try visitor.field(&maximumCPUPressurePercent, "constraints.maximum_cpu_pressure_percent", 1...100)
        try visitor.field(&maximumIOPressurePercent, "constraints.maximum_io_pressure_percent", 1...100)
        try visitor.field(&maximumMemoryPressurePercent, "constraints.maximum_memory_pressure_percent", 1...100)
        try visitor.field(&minimumBytesPerSecond, "constraints.minimum_bytes_per_second")
        try visitor.field(&quietHours, "constraints.quiet_hours")
    }
}

/// The row number of the constraints that a task itself states. Most tasks state no constraints and have the number 0.
/// Tasks of one session that have the same number wait for the same conditions. They are held (delayed) together, and
/// released together.
public struct ConstraintsID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let session = ConstraintsID(rawValue: 0)
}

/// The constraints that tasks state themselves: the row of a `ConstraintsID`.
public struct TaskConstraints: Hashable, Sendable {
    public var stated: Constraints
    /// Whether the task has the preset `discretionary` because a launched host enqueued it
    /// (`SessionConfiguration.isDiscretionaryIfLaunched`). A launched host is a host that the engine has started.
    public var isLaunched: Bool
    /// Whether the task's latest start has passed, so that presets do not apply any more.
    public var isPastLatestStart: Bool

    public init(_ stated: Constraints = .none, isLaunched: Bool = false, isPastLatestStart: Bool = false) {
        self.stated = stated
        self.isLaunched = isLaunched
        self.isPastLatestStart = isPastLatestStart
    }
}
