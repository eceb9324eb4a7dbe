/// A program to run when sessions need their host: `bh_launch_command` with its defaults filled in.
public struct LaunchCommand: Equatable, Sendable {
    /// Absolute path.
    public var program: String
    /// Those after the program's name.
    public var arguments: [String] = []
    /// Additions, "NAME=value".
    public var environment: [String] = []
    /// Absolute; nil: the user's home directory.
    public var workingDirectory: String?
    /// A launched host that has attached no session by then is ended and launched again.
    public var attachTimeoutMilliseconds: UInt32 = 60_000
    /// Before the next launch when one has ended without completing; doubles.
    public var firstDelayMilliseconds: UInt32 = 60_000
    public var longestDelayMilliseconds: UInt32 = 3_600_000
    /// In a row without completing; then the application is left alone.
    public var maximumLaunches: UInt32 = 8

    public init(program: String) { self.program = program }
}

/// Row number of a launch in its store; grows, never used twice.
public struct LaunchID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: LaunchID, right: LaunchID) -> Bool { left.rawValue < right.rawValue }
}

/// What a launched host has in its environment as BACKHAUL_LAUNCH, "ID-SECRET": which launch it is, and a number that
/// tells it from another store's launch of the same id.
public struct LaunchToken: Hashable, Sendable {
    public static let variable = "BACKHAUL_LAUNCH"

    public var id: LaunchID
    public var secret: UInt64

    public init(id: LaunchID, secret: UInt64) {
        self.id = id
        self.secret = secret
    }

    /// Nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = UInt64(parts[0]), let secret = UInt64(parts[1], radix: 16) else { return nil }
        self.init(id: LaunchID(rawValue: id), secret: secret)
    }

    public var text: String { "\(id.rawValue)-\(String(secret, radix: 16))" }
}

/// `BH_LAUNCH_…`
public enum LaunchState: Int32, Sendable, CaseIterable {
    case none = 0
    case due = 1
    case running = 2
    case gaveUp = 3
}

/// A registered launch command and how it fares: `bh_launch_info`.
public struct LaunchInfo: Equatable, Sendable {
    public var application: String
    public var command: LaunchCommand
    public var state: LaunchState = .none
    /// In a row without completing.
    public var launches: UInt32 = 0
    /// Unix milliseconds, or 0.
    public var nextLaunchMilliseconds: Int64 = 0
    /// Of the launched host, or 0.
    public var processID: Int64 = 0
    /// Unix milliseconds, or 0.
    public var startedMilliseconds: Int64 = 0
    /// Why the last launch failed.
    public var errorMessage: String?

    public init(application: String, command: LaunchCommand) {
        self.application = application
        self.command = command
    }
}

/// The launch that a host was started by: `bh_launch`.
public struct CurrentLaunch: Equatable, Sendable {
    public var id: LaunchID
    /// In a row, this one included.
    public var launches: UInt32
    /// All that are concerned and not completed yet.
    public var sessions: [SessionInfo]

    public init(id: LaunchID, launches: UInt32, sessions: [SessionInfo]) {
        self.id = id
        self.launches = launches
        self.sessions = sessions
    }
}
