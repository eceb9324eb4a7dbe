public import BackhaulPlatform

/// The state of a unit: the property `ActiveState` (org.freedesktop.systemd1(5)).
public enum UnitState: String, Sendable {
    case active, reloading, inactive, failed, activating, deactivating, maintenance, refreshing

    /// Whether the unit runs, or will soon run without a further call.
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
    /// The service's first process; nil if this process has already ended.
    public var process: ProcessIdentity?
    /// Whether the unit existed before this start: another process had started it, or a unit file describes it.
    public var alreadyExisted: Bool
}

/// How a service's first process has ended (`ExecMainCode` and `ExecMainStatus`, org.freedesktop.systemd1(5)).
enum ExitStatus: Equatable {
    case exited(Int32)
    case killed(signal: Int32)

    /// - code: one of the codes of waitid(2).
    init?(code: Int32, status: Int32) {
        switch code {
        case 1: self = .exited(status)
        case 2, 3: self = .killed(signal: status)
        default: return nil
        }
    }

    func clause(of program: String) -> String {
        switch self {
        // The codes 200 and 203 are systemd's own. They mean a failure before the program ran (systemd.exec(5),
        // "Process Exit Codes").
        case .exited(200): "the working directory of \(program) cannot be entered"
        case .exited(203): "\(program) is not there or cannot be run"
        case .exited(let code): "\(program) ended at once, with exit code \(code)"
        case .killed(let signal): "\(program) ended at once, of signal \(signal)"
        }
    }
}
