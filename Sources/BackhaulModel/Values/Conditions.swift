/// What the system offers now, as far as it can be read. What cannot be read holds nothing back.
public struct Conditions: Equatable, Sendable {
    public var externalPower = Reading<Bool>()
    /// Of all batteries together.
    public var batteryPercent = Reading<UInt8>()
    public var thermalState = Reading<ThermalState>()
    /// Which sensor says so; nil when that is not known.
    public var hottestSensor: HottestSensor?
    /// Of the last ten seconds in which some process waited (`some avg10` of /proc/pressure).
    public var cpuPressurePercent = Reading<UInt8>()
    public var ioPressurePercent = Reading<UInt8>()
    public var memoryPressurePercent = Reading<UInt8>()
    public var network = Reading<Network>()
    public var isMetered = Reading<Bool>()
    public var connectivity = Reading<ConnectivityState>()
    public var isAboutToSleep = Reading<Bool>()

    public init() {}
}

/// One condition as it was read.
public struct Reading<Value: Equatable & Sendable>: Equatable, Sendable {
    /// Nil: it cannot be read, and so holds nothing back.
    public var value: Value?
    /// Where it was read: a path, "NetworkManager", "configured"; or why it could not be.
    public var source: String
    /// It is better already, and `value` what it was before: until the time when that has lasted long enough.
    public var settling: Settling?

    public init(_ value: Value? = nil, source: String = "not looked at") {
        self.value = value
        self.source = source
    }
}

/// How long what has become better must last before anything is let go for it.
public struct Settling: Equatable, Sendable {
    public var durationMilliseconds: Int64
    /// By the clock that starts with the boot, in milliseconds.
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

/// The sensor that makes the machine's heat what it is.
public struct HottestSensor: Equatable, Sendable {
    /// As people would say it: "the processor's sensor x86_pkg_temp".
    public var name: String
    /// Celsius.
    public var degrees: Int
    /// From how many degrees on it is at a level.
    public var levels: [ThermalState: Int]

    public init(name: String, degrees: Int, levels: [ThermalState: Int]) {
        self.name = name
        self.degrees = degrees
        self.levels = levels
    }

    /// With how many degrees at most the machine is no hotter than this: by the next level that the sensor has.
    func degreesToBe(_ wanted: ThermalState) -> Int? {
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

/// Where the default route leads.
public struct Network: Equatable, Sendable {
    /// NetworkManager's connection, else the interface.
    public var name: String
    /// One of them.
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

/// `BH_CONDITION_…`
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
    /// As its kind says; 0 when it is not known.
    public var value: Int64
    /// Of the network.
    public var name: String?
    /// What it means, in a few words.
    public var text: String
    public var source: String
    /// Unix milliseconds since when it is so.
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

/// Which conditions something depends on: what nothing depends on is not read.
public struct ConditionNeeds: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// External power and battery.
    public static let power = ConditionNeeds(rawValue: 1)
    public static let heat = ConditionNeeds(rawValue: 2)
    public static let cpuPressure = ConditionNeeds(rawValue: 4)
    public static let ioPressure = ConditionNeeds(rawValue: 8)
    public static let memoryPressure = ConditionNeeds(rawValue: 16)
    /// Network, metering and connectivity.
    public static let network = ConditionNeeds(rawValue: 32)
    public static let sleep = ConditionNeeds(rawValue: 64)

    public static let all: ConditionNeeds = [
        .power, .heat, .cpuPressure, .ioPressure, .memoryPressure, .network, .sleep,
    ]
}
