internal import CBackhaul

/// A predefined set of constraints. A *constraint* is a demand of a task on the system, such as external power.
///
/// If a property of `Constraints` is set, it replaces the preset's value for this property. After
/// `Request.latestStartMilliseconds`, the preset's constraints do not apply any more. The constraints that are set by
/// properties still apply.
public enum Preset: Int32, Hashable, Sendable {
    /// The constraints `requiresExternalPower`, `requiresUnmetered`, `maximumThermalState` of `.fair`, and
    /// `minimumBytesPerSecond` of 10,000 (Apple: isDiscretionary).
    case discretionary = 1
    /// The constraints of `.discretionary`, and `quietHours` of "07:00-23:00".
    case overnight = 2
}

/// The heat of the machine (Apple: ProcessInfo.ThermalState). The trip points of the machine's thermal zones define the
/// states.
public enum ThermalState: Int32, Hashable, Sendable, Comparable {
    /// No temperature is above a trip point.
    case nominal = 1
    /// A temperature is above a passive or active trip point, or the processor is throttled. A running fan alone does
    /// not cause this state.
    case fair = 2
    /// A temperature is above a hot trip point, or within 10 degrees of a critical trip point.
    case serious = 3
    /// A temperature is within 3 degrees of a critical trip point, or above this point. No task runs.
    case critical = 4

    /// Returns whether the left state is cooler than the right state.
    public static func < (left: ThermalState, right: ThermalState) -> Bool { left.rawValue < right.rawValue }
}

/// Kinds of networks. A constraint on the kind of network applies to the network of the default route.
public struct NetworkKinds: OptionSet, Hashable, Sendable {
    /// The kinds as bits, as in the C header.
    public let rawValue: UInt32
    /// Makes a set of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ constant: Int) { rawValue = UInt32(constant) }

    /// A network over a cable.
    public static let ethernet = NetworkKinds(BH_NETWORK_ETHERNET)
    /// A wireless local network.
    public static let wifi = NetworkKinds(BH_NETWORK_WIFI)
    /// A mobile network.
    public static let cellular = NetworkKinds(BH_NETWORK_CELLULAR)
    /// A network over Bluetooth.
    public static let bluetooth = NetworkKinds(BH_NETWORK_BLUETOOTH)
    /// A VPN over a network of an unknown kind.
    public static let tunnel = NetworkKinds(BH_NETWORK_TUNNEL)
    /// Any other kind of network.
    public static let other = NetworkKinds(BH_NETWORK_OTHER)
    /// All kinds of networks.
    public static let all: NetworkKinds = [.ethernet, .wifi, .cellular, .bluetooth, .tunnel, .other]
}

extension NetworkKinds {
    static func of(_ field: UInt32) -> NetworkKinds? { nonzero(field).map { NetworkKinds(rawValue: $0) } }

    func value() throws(BackhaulError) -> UInt32 {
        guard !isEmpty else {
            // In C, 0 means the default, which is all kinds.
            throw BackhaulError(
                BH_INVALID_ARGUMENT, message: "networks is empty, so no task could run; give at least one kind, or nil")
        }
        return rawValue
    }
}
