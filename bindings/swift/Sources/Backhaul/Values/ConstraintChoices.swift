internal import CBackhaul

/// A predefined set of constraints.
///
/// A property that is set replaces the preset's value of that property. A preset's constraints end at
/// `Request.latestStartMilliseconds`; constraints of properties do not end.
public enum Preset: Int32, Hashable, Sendable {
    /// `requiresExternalPower`, `requiresUnmetered`, `maximumThermalState` `.fair`, and `minimumBytesPerSecond` 10,000
    /// (Apple: isDiscretionary).
    case discretionary = 1
    /// `.discretionary`, and `quietHours` "07:00-23:00".
    case overnight = 2
}

/// The heat of the machine, by the trip points of its thermal zones (Apple: ProcessInfo.ThermalState).
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

/// Kinds of network. The network of the default route counts.
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

extension NetworkKinds {
    static func of(_ field: UInt32) -> NetworkKinds? { nonzero(field).map { NetworkKinds(rawValue: $0) } }

    func value() throws(BackhaulError) -> UInt32 {
        guard !isEmpty else {
            // In C, 0 is the default, which means all kinds.
            throw BackhaulError(BH_INVALID_ARGUMENT, message: "networks is empty: it would never run.")
        }
        return rawValue
    }
}
