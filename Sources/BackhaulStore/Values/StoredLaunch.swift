public import BackhaulModel
public import BackhaulPlatform

/// A registered launch command and how it fares.
public struct StoredLaunch: Equatable, Sendable {
    public var application: String
    public var command: LaunchCommand
    public var backoff = LaunchBackoff()
    /// Why the last launch failed.
    public var errorMessage: String?
    /// The launch that is not over.
    public var current: Current?

    public struct Current: Equatable, Sendable {
        public var token: LaunchToken
        /// Nil until it runs, and again when its end was dealt with.
        public var process: ProcessIdentity?
        /// Of the user manager that runs it.
        public var unit: String?
        /// Unix milliseconds.
        public var startedMilliseconds: Int64
        /// As consumer, a session that it was launched for.
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

/// A session that has finished a round or has an open challenge that its host was not told of.
public struct WaitingSession: Equatable, Sendable {
    public var identifier: String
    public var launchIfStoppedMilliseconds: UInt32
    /// Its consumer, when that lives.
    public var consumer: ProcessIdentity?
    /// The launch that is not over is for it, too.
    public var isLaunched: Bool
}

/// What completing a session has found.
public struct LaunchCompletion: Equatable, Sendable {
    /// The launch that is not over was for it.
    public var wasLaunched: Bool
    /// Only because answers to its challenges did not serve.
    public var wasRepeated: Bool
    /// It needs its host still.
    public var isWaiting: Bool
}
