public import BackhaulConditions
public import BackhaulModel

/// The options of an engine.
public struct EngineOptions: Sendable {
    /// A daemon ends when it has had nothing to do for this many milliseconds. It is nil for an engine inside a host,
    /// which ends with the host.
    public var lingerMilliseconds: Int64?
    /// How long the hello of a peer on the socket, or the rest of a frame, may be missing, in milliseconds.
    public var timeoutMilliseconds: (hello: Int64, frame: Int64) = (10_000, 30_000)
    /// The places from which the system's conditions are read: /sys, /proc and the address of the system bus.
    public var conditions = ConditionRoots.fromEnvironment()
    /// Fake conditions that replace the system's, for tests.
    public var fakeConditions: FakeConditions?
    /// Takes log entries. It is called on the engine's threads, and must not block for long.
    public var log: @Sendable (LogEntry) -> Void

    public var isDaemon: Bool { lingerMilliseconds != nil }

    public static var embedded: EngineOptions { EngineOptions(lingerMilliseconds: nil, log: { _ in }) }

    public init(lingerMilliseconds: Int64?, log: @escaping @Sendable (LogEntry) -> Void) {
        self.lingerMilliseconds = lingerMilliseconds
        self.log = log
    }
}

/// The reason for which the owner of an engine has to stop it.
public enum EngineEnd: Equatable, Sendable {
    /// The engine cannot continue.
    case failed(Failure)
    /// The daemon has nothing to do. It accepts no clients any more.
    case idleExit
    /// A newer library, which has these versions, takes over the store.
    case replaced(by: Versions)
}
