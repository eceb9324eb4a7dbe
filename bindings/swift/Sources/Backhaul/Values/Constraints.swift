internal import CBackhaul

/// A set of constraints by its common name. Members that are set beside it take the place of its own. A preset's
/// constraints end at `Request.latestStartMilliseconds`; those of members hold always.
public enum Preset: Int32, Hashable, Sendable {
    /// `requiresExternalPower`, `requiresUnmetered`, `maximumThermalState` `.fair`, `minimumBytesPerSecond` 10,000
    /// (Apple: isDiscretionary).
    case discretionary = 1
    /// `.discretionary`, and `quietHours` "07:00-23:00".
    case overnight = 2
}

/// Heat of the machine, by the trip points of its thermal zones (Apple: ProcessInfo.ThermalState).
public enum ThermalState: Int32, Hashable, Sendable, Comparable {
    case nominal = 1
    /// Above a passive or active trip point, or the processor is throttled; a fan alone does not count.
    case fair = 2
    /// Above a hot trip point, or within 10 degrees of a critical one.
    case serious = 3
    /// Within 3 degrees of a critical trip point, or above it: no task runs.
    case critical = 4

    public static func < (left: ThermalState, right: ThermalState) -> Bool { left.rawValue < right.rawValue }
}

/// Kinds of network: that of the default route.
public struct NetworkKinds: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    public static let ethernet = NetworkKinds(BH_NETWORK_ETHERNET)
    public static let wifi = NetworkKinds(BH_NETWORK_WIFI)
    public static let cellular = NetworkKinds(BH_NETWORK_CELLULAR)
    public static let bluetooth = NetworkKinds(BH_NETWORK_BLUETOOTH)
    /// A VPN over an unknown network.
    public static let tunnel = NetworkKinds(BH_NETWORK_TUNNEL)
    public static let other = NetworkKinds(BH_NETWORK_OTHER)
    public static let all: NetworkKinds = [.ethernet, .wifi, .cellular, .bluetooth, .tunnel, .other]
}

/// Conditions under which tasks run; otherwise they are held. Where session and request both have constraints, the
/// stricter one holds. Nil: no constraint. A condition that cannot be read holds no task.
public struct Constraints: Hashable, Sendable {
    public var preset: Preset?
    /// True: held while the machine runs on battery.
    public var requiresExternalPower: Bool?
    /// True: held while the network is metered (Apple: allowsExpensiveNetworkAccess and
    /// allowsConstrainedNetworkAccess).
    public var requiresUnmetered: Bool?
    /// Default all.
    public var networks: NetworkKinds?
    /// Held on battery with less, then until it has 5 more; 1 to 100.
    public var minimumBatteryPercent: Int?
    /// Default `.serious`.
    public var maximumThermalState: ThermalState?
    /// Percentage of the last ten seconds in which a process waited for a processor (/proc/pressure); 1 to 100.
    public var maximumCPUPressurePercent: Int?
    /// The same for disks.
    public var maximumIOPressurePercent: Int?
    /// The same for memory.
    public var maximumMemoryPressurePercent: Int?
    /// Tasks pause when an origin, or the network, is slower than this for the session's `slowAfter`; one task then
    /// probes.
    public var minimumBytesPerSecond: UInt64?
    /// Hours of local time in which tasks are held: "22:00-06:30", or several with days: "mon-fri 08:00-18:00, sat
    /// 10:00-14:00". An end before its begin is on the next day.
    public var quietHours: String?

    public init() {}

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ value: bh_constraints) {
        preset = Preset(rawValue: value.preset)
        requiresExternalPower = choice(value.requires_external_power)
        requiresUnmetered = choice(value.requires_unmetered)
        networks = nonzero(value.networks).map { NetworkKinds(rawValue: $0) }
        minimumBatteryPercent = number(value.minimum_battery_percent)
        maximumThermalState = ThermalState(rawValue: value.maximum_thermal_state)
        maximumCPUPressurePercent = number(value.maximum_cpu_pressure_percent)
        maximumIOPressurePercent = number(value.maximum_io_pressure_percent)
        maximumMemoryPressurePercent = number(value.maximum_memory_pressure_percent)
        minimumBytesPerSecond = nonzero(value.minimum_bytes_per_second)
        quietHours = text(value.quiet_hours)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_constraints {
        if networks == [] {
            // In C that is the default, all.
            throw BackhaulError(BH_INVALID_ARGUMENT, message: "networks is empty: it would never run.")
        }
        var value = bh_constraints()
        value.preset = preset?.rawValue ?? 0
        value.requires_external_power = choice(requiresExternalPower)
        value.requires_unmetered = choice(requiresUnmetered)
        value.networks = networks?.rawValue ?? 0
        value.minimum_battery_percent = try positive(minimumBatteryPercent, "minimumBatteryPercent")
        value.maximum_thermal_state = maximumThermalState?.rawValue ?? 0
        value.maximum_cpu_pressure_percent = try positive(maximumCPUPressurePercent, "maximumCPUPressurePercent")
        value.maximum_io_pressure_percent = try positive(maximumIOPressurePercent, "maximumIOPressurePercent")
        value.maximum_memory_pressure_percent = try positive(
            maximumMemoryPressurePercent, "maximumMemoryPressurePercent")
        value.minimum_bytes_per_second = minimumBytesPerSecond ?? 0
        value.quiet_hours = try arena.optionalString(quietHours, "quietHours")
        return value
    }
}
