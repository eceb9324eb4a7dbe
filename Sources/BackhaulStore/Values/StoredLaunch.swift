public import BackhaulModel
public import BackhaulPlatform

/// A registered launch command, and the state of its launches.
public struct StoredLaunch: Equatable, Sendable {
    public var application: String
    public var command: LaunchCommand
    public var backoff = LaunchBackoff()
    /// Why the last launch failed.
    public var errorMessage: String?
    /// The current launch, until it is over.
    public var current: Current?

    public struct Current: Equatable, Sendable {
        public var token: LaunchToken
        /// The launched process. Nil until it runs, and again after its end was handled.
        public var process: ProcessIdentity?
        /// The unit of the user manager in which it runs.
        public var unit: String?
        /// When the launch started, in Unix milliseconds.
        public var startedMilliseconds: Int64
        /// Whether the host has attached as consumer of a session of this launch.
        public var hasAttached = false

        public init(token: LaunchToken, startedMilliseconds: Int64) {
            self.token = token
            self.startedMilliseconds = startedMilliseconds
        }
    }

    public init(application: String, command: LaunchCommand) {
        self.application = application
        self.command = command
    }
}

/// A session that has finished a round, has an event of an activity, or has an open challenge that its host has not
/// seen.
public struct WaitingSession: Equatable, Sendable {
    public var identifier: String
    public var launchIfStoppedMilliseconds: UInt32
    /// The process of its consumer, if that process lives.
    public var consumer: ProcessIdentity?
    /// Whether the current launch includes the session.
    public var isLaunched: Bool
}

/// The result of completing a session.
public struct LaunchCompletion: Equatable, Sendable {
    /// Whether the current launch included the session.
    public var wasLaunched: Bool
    /// Whether the launch included the session only because the server rejected credentials for its challenges.
    public var wasRepeated: Bool
    /// Whether the session still needs its host.
    public var isWaiting: Bool
}
