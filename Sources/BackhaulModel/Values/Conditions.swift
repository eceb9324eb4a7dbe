/// The present conditions of the system, such as power and network, as far as the engine can read them. A condition
/// that cannot be read delays no task (download or upload).
public struct Conditions: Equatable, Sendable {
    public var externalPower = Reading<Bool>()
    /// The charge of all batteries together.
    public var batteryPercent = Reading<UInt8>()
    public var thermalState = Reading<ThermalState>()
    /// The sensor that determines the thermal state; nil if it is unknown.
    public var hottestSensor: HottestSensor?
    /// The share of the last ten seconds in which some process waited for a processor (`some avg10` of /proc/pressure).
    /// The next two properties are the shares for a disk and for memory.
    public var cpuPressurePercent = Reading<UInt8>()
    public var ioPressurePercent = Reading<UInt8>()
    public var memoryPressurePercent = Reading<UInt8>()
    public var network = Reading<Network>()
    public var isMetered = Reading<Bool>()
    public var connectivity = Reading<ConnectivityState>()
    public var isPreparingForSleep = Reading<Bool>()

    public init() {}
}

/// One condition as it was read.
public struct Reading<Value: Equatable & Sendable>: Equatable, Sendable {
    /// The value; nil if the condition cannot be read. Then the condition delays no task.
    public var value: Value?
    /// The source of the value, such as a path, "NetworkManager" or "configured". If there is no value, it is the
    /// reason why the condition cannot be read.
    public var source: String
    /// This property is set while the condition is already better, but has not been better for long enough. In this
    /// period, `value` is the former value.
    public var settling: SettlingPeriod?

    public init(_ value: Value? = nil, source: String = "not read") {
        self.value = value
        self.source = source
    }
}

/// How long a better condition must last before it releases tasks.
public struct SettlingPeriod: Equatable, Sendable {
    public var durationMilliseconds: Int64
    /// When the better condition has lasted long enough, in milliseconds since boot.
    public var endsAt: Int64

    public init(durationMilliseconds: Int64, endsAt: Int64) {
        self.durationMilliseconds = durationMilliseconds
        self.endsAt = endsAt
    }
}

/// How hot the machine is: `BH_THERMAL_…`.
public enum ThermalState: Int32, Sendable, CaseIterable, Comparable {
    case nominal = 1
    case fair = 2
    case serious = 3
    case critical = 4

    public static func < (left: ThermalState, right: ThermalState) -> Bool { left.rawValue < right.rawValue }
}

/// The sensor that determines the thermal state of the machine.
public struct HottestSensor: Equatable, Sendable {
    /// The name for users, such as "the processor's sensor x86_pkg_temp".
    public var name: String
    /// The temperature, in degrees Celsius.
    public var degrees: Int
    /// The temperature to which the machine must cool down to leave each state, in degrees Celsius.
    public var levels: [ThermalState: Int]

    public init(name: String, degrees: Int, levels: [ThermalState: Int]) {
        self.name = name
        self.degrees = degrees
        self.levels = levels
    }

    /// The temperature to which the machine must cool down to reach the state `wanted` or a cooler state. The machine
    /// must leave all hotter states, so this is the lowest of their temperatures in `levels`.
    func thresholdDegrees(_ wanted: ThermalState) -> Int? {
        levels.filter { $0.key > wanted }.map(\.value).min()
    }
}

/// Kinds of network: `BH_NETWORK_…` bits.
public struct NetworkKinds: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let ethernet = NetworkKinds(rawValue: 1)
    public static let wifi = NetworkKinds(rawValue: 2)
    public static let cellular = NetworkKinds(rawValue: 4)
    public static let bluetooth = NetworkKinds(rawValue: 8)
    public static let tunnel = NetworkKinds(rawValue: 16)
    public static let other = NetworkKinds(rawValue: 32)

    public static let all: NetworkKinds = [.ethernet, .wifi, .cellular, .bluetooth, .tunnel, .other]
}

/// The network to which the default route leads.
public struct Network: Equatable, Sendable {
    /// The name of the network's connection in NetworkManager; if there is no such connection, the name of the
    /// interface.
    public var name: String
    /// The kind of the network; the set has one element.
    public var kind: NetworkKinds

    public init(name: String, kind: NetworkKinds) {
        self.name = name
        self.kind = kind
    }
}

/// How far the network leads: `BH_CONNECTIVITY_…`.
public enum ConnectivityState: Int32, Sendable, CaseIterable {
    case none = 1
    case portal = 2
    case limited = 3
    case full = 4
}

/// The kind of a condition: `BH_CONDITION_…`.
public enum ConditionKind: Int32, Sendable, CaseIterable {
    case externalPower = 1
    case battery = 2
    case thermalState = 3
    case cpuPressure = 4
    case ioPressure = 5
    case memoryPressure = 6
    case network = 7
    case metered = 8
    case connectivity = 9
    case sleep = 10
    case throughput = 11
}

/// A condition as listings show it: `bh_condition`.
public struct ConditionInfo: Equatable, Sendable {
    public var kind: ConditionKind
    public var isKnown: Bool
    /// The value, whose meaning depends on the kind; 0 if the value is unknown.
    public var value: Int64
    /// The name of the network, if `kind` is `network`.
    public var name: String?
    /// The value in a few words.
    public var text: String
    public var source: String
    /// When the condition got this value, in Unix milliseconds.
    public var sinceMilliseconds: Int64

    public init(
        kind: ConditionKind, isKnown: Bool, value: Int64, name: String? = nil, text: String, source: String,
        sinceMilliseconds: Int64
    ) {
        self.kind = kind
        self.isKnown = isKnown
        self.value = value
        self.name = name
        self.text = text
        self.source = source
        self.sinceMilliseconds = sinceMilliseconds
    }
}

/// The conditions on which tasks or activities depend. The engine does not read other conditions.
public struct ConditionSet: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// External power and battery.
    public static let power = ConditionSet(rawValue: 1)
    public static let heat = ConditionSet(rawValue: 2)
    public static let cpuPressure = ConditionSet(rawValue: 4)
    public static let ioPressure = ConditionSet(rawValue: 8)
    public static let memoryPressure = ConditionSet(rawValue: 16)
    /// Network, metering and connectivity.
    public static let network = ConditionSet(rawValue: 32)
    public static let sleep = ConditionSet(rawValue: 64)

    public static let all: ConditionSet = [
        .power, .heat, .cpuPressure, .ioPressure, .memoryPressure, .network, .sleep,
    ]
}
