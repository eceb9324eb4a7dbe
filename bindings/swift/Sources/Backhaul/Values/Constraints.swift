internal import CBackhaul

/// What a task waits for when it can, in the words that people have for it. A preset stands for the members named here;
/// one that is set beside it takes the place of the preset's. What a preset asks for are wishes: they are given up at
/// `Request.latestStartMilliseconds`. What a member asks for holds always.
public enum Preset: Int32, Hashable, Sendable {
    /// External power, an unmetered network, `.fair` heat at most, 10,000 bytes per second (Apple: isDiscretionary).
    case discretionary = 1
    /// The same, and quiet hours "07:00-23:00".
    case overnight = 2
}

/// How hot the machine is, by the trip points of its thermal zones (Apple: ProcessInfo.ThermalState).
public enum ThermalState: Int32, Hashable, Sendable, Comparable {
    case nominal = 1
    /// Above a passive or active trip point, or a fan or limiter is at work.
    case fair = 2
    /// Above a hot trip point, or within 10 degrees of a critical one.
    case serious = 3
    /// Within 3 degrees of a critical trip point, or above it: nothing is transferred.
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
    /// A VPN whose own way is not known.
    public static let tunnel = NetworkKinds(BH_NETWORK_TUNNEL)
    public static let other = NetworkKinds(BH_NETWORK_OTHER)
    public static let all: NetworkKinds = [.ethernet, .wifi, .cellular, .bluetooth, .tunnel, .other]
}

/// What a transfer waits for. Of a session and its task the stricter holds: a task cannot loosen what its session asks
/// for. Nil: nothing is asked. What cannot be read holds nothing back.
public struct Constraints: Hashable, Sendable {
    public var preset: Preset?
    /// True: waits while the machine runs on battery.
    public var requiresExternalPower: Bool?
    /// True: waits while the network is metered.
    public var requiresUnmetered: Bool?
    /// Those on which it runs. Default all.
    public var networks: NetworkKinds?
    /// Waits on battery with less, and then until it has 5 more; 1 to 100.
    public var minimumBatteryPercent: Int?
    /// Default `.serious`.
    public var maximumThermalState: ThermalState?
    /// Of the last ten seconds in which some process waited for a processor, by /proc/pressure; 1 to 100.
    public var maximumCPUPressurePercent: Int?
    /// The same, for a disk.
    public var maximumIOPressurePercent: Int?
    /// The same, for memory.
    public var maximumMemoryPressurePercent: Int?
    /// When less has come for the session's `slowAfter`, from an origin or from all, it pauses and probes.
    public var minimumBytesPerSecond: UInt64?
    /// Hours of local time in which it waits: "22:00-06:30", or several with days, "mon-fri 08:00-18:00, sat
    /// 10:00-14:00"; an end before its begin is the next day's.
    public var quietHours: String?

    public init() {}

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ value: some ConstraintFields) {
        func number(_ value: UInt32) -> Int? { value == 0 ? nil : Int(value) }
        preset = Preset(rawValue: value.preset)
        requiresExternalPower = choice(value.requires_external_power)
        requiresUnmetered = choice(value.requires_unmetered)
        networks = value.networks == 0 ? nil : NetworkKinds(rawValue: value.networks)
        minimumBatteryPercent = number(value.minimum_battery_percent)
        maximumThermalState = ThermalState(rawValue: value.maximum_thermal_state)
        maximumCPUPressurePercent = number(value.maximum_cpu_pressure_percent)
        maximumIOPressurePercent = number(value.maximum_io_pressure_percent)
        maximumMemoryPressurePercent = number(value.maximum_memory_pressure_percent)
        minimumBytesPerSecond = value.minimum_bytes_per_second == 0 ? nil : value.minimum_bytes_per_second
        quietHours = text(value.quiet_hours)
    }

    func fill(_ value: inout some ConstraintFields, _ arena: Arena) throws(BackhaulError) {
        if networks == [] {
            // In C that is the default, all.
            throw BackhaulError(BH_INVALID_ARGUMENT, message: "networks is empty: it would never run.")
        }
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
    }
}
