public import BackhaulModel
public import BackhaulPlatform

/// A registered launch command, and the state of its launches. In a launch, the engine runs the command to start the
/// application's program.
public struct StoredLaunch: Equatable, Sendable {
    public var application: String
    public var command: LaunchCommand
    public var backoff = LaunchBackoff()
    /// Why the last launch failed; nil if it did not fail.
    public var errorMessage: String?
    /// The current launch; nil if there is none.
    public var current: Current?

    public struct Current: Equatable, Sendable {
        public var token: LaunchToken
        /// The launched process; nil before the process runs, and after the engine has handled the end of the process.
        public var process: ProcessIdentity?
        /// The unit of systemd's user manager in which the process runs; nil if the process runs in no unit.
        public var unit: String?
        /// When the launch began, in Unix milliseconds.
        public var startedMilliseconds: Int64
        /// Whether the host has attached (opened) a session of this launch as consumer, which has the right to read the
        /// session's events.
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

/// A session that needs its host. All tasks of the session have ended, or an activity has inserted an event, or the
/// host has not seen an open challenge.
public struct WaitingSession: Equatable, Sendable {
    public var identifier: String
    public var launchIfStoppedMilliseconds: UInt32
    /// The process of the session's consumer, if that process is alive.
    public var consumer: ProcessIdentity?
    /// Whether the current launch includes the session.
    public var isLaunched: Bool
}

/// The result when a host completes a session: reports that it has processed all events that it has read from the
/// session.
public struct LaunchCompletion: Equatable, Sendable {
    /// Whether the current launch included the session.
    public var wasLaunched: Bool
    /// Whether the launch included the session only because the server rejected credentials for its challenges.
    public var wasRepeated: Bool
    /// Whether the session still needs its host.
    public var isWaiting: Bool
}
