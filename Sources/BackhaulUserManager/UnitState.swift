public import BackhaulPlatform

/// The unit's `ActiveState` (org.freedesktop.systemd1(5)).
public enum UnitState: String, Sendable {
    case active, reloading, inactive, failed, activating, deactivating, maintenance, refreshing

    /// It runs, or will without being asked.
    public var isRunning: Bool {
        switch self {
        case .active, .reloading, .activating, .refreshing: true
        case .inactive, .failed, .deactivating, .maintenance: false
        }
    }
}

/// A service that the user manager runs.
public struct StartedService: Equatable, Sendable {
    /// The unit's name.
    public var name: String
    /// Its first process; nil when that has ended already.
    public var process: ProcessIdentity?
    /// Somebody else had started it, or a unit file describes it.
    public var wasThere: Bool
}
