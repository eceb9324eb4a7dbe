/// The command that starts a host when sessions need it: `bh_launch_command` with its defaults filled in. The *engine*
/// runs the transfers, and starts (*launches*) the host.
public struct LaunchCommand: Equatable, Sendable {
    /// An absolute path.
    public var program: String
    /// The arguments after the program's name.
    public var arguments: [String] = []
    /// Additional variables of the environment, in the form "NAME=value".
    public var environment: [String] = []
    /// An absolute path; nil: the user's home directory.
    public var workingDirectory: String?
    /// How long a launched host may take to attach (open) a session. If the host takes longer, the engine ends the host
    /// and launches it again.
    public var attachTimeoutMilliseconds: UInt32 = 60_000
    /// If a launched host has ended and has completed no session (`bh_session_complete`), the launch has failed. Then
    /// the next launch is delayed by this time. The delay doubles with each further failed launch.
    public var firstDelayMilliseconds: UInt32 = 60_000
    public var longestDelayMilliseconds: UInt32 = 3_600_000
    /// After this many failed launches in a row, the engine stops launching the application. If a host then connects
    /// without a launch (for example, the user starts it), launches are possible again.
    public var maximumLaunches: UInt32 = 8

    public init(program: String) { self.program = program }
}

/// The row number of a launch in its store, which is the directory with all durable data. Numbers grow and are never
/// reused.
public struct LaunchID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: LaunchID, right: LaunchID) -> Bool { left.rawValue < right.rawValue }
}

/// The value of BACKHAUL_LAUNCH in the environment of a launched host, "ID-SECRET". The secret number distinguishes the
/// launch from a launch with the same id in another store.
public struct LaunchToken: Hashable, Sendable {
    public static let variable = "BACKHAUL_LAUNCH"

    public var id: LaunchID
    public var secret: UInt64

    public init(id: LaunchID, secret: UInt64) {
        self.id = id
        self.secret = secret
    }

    /// Returns nil if the text does not have the form "ID-SECRET".
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = UInt64(parts[0]), let secret = UInt64(parts[1], radix: 16) else { return nil }
        self.init(id: LaunchID(rawValue: id), secret: secret)
    }

    public var text: String { "\(id.rawValue)-\(String(secret, radix: 16))" }
}

/// The state of an application's launches: `BH_LAUNCH_…`.
public enum LaunchState: Int32, Sendable, CaseIterable {
    case none = 0
    case due = 1
    case running = 2
    case gaveUp = 3
}

/// A registered launch command and the state of its launches: `bh_launch_info`.
public struct LaunchInfo: Equatable, Sendable {
    public var application: String
    public var command: LaunchCommand
    public var state: LaunchState = .none
    /// The number of launches in a row whose hosts have completed no session.
    public var launches: UInt32 = 0
    /// The time of the next launch in Unix milliseconds; 0 if there is none.
    public var nextLaunchMilliseconds: Int64 = 0
    /// The process id of the launched host; 0 if there is none.
    public var processID: Int64 = 0
    /// The time of the last launch in Unix milliseconds; 0 if there was none.
    public var startedMilliseconds: Int64 = 0
    /// Why the last launch failed.
    public var errorMessage: String?

    public init(application: String, command: LaunchCommand) {
        self.application = application
        self.command = command
    }
}

/// The launch that started a host: `bh_launch`.
public struct CurrentLaunch: Equatable, Sendable {
    public var id: LaunchID
    /// The number of launches in a row whose hosts have completed no session. It includes this launch.
    public var launches: UInt32
    /// The sessions that need the host and that the host has not completed yet (`bh_session_complete`).
    public var sessions: [SessionInfo]

    public init(id: LaunchID, launches: UInt32, sessions: [SessionInfo]) {
        self.id = id
        self.launches = launches
        self.sessions = sessions
    }
}
