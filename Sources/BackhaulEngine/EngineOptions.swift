public import BackhaulConditions
public import BackhaulModel

/// The options of an engine.
public struct EngineOptions: Sendable {
    /// How long an idle daemon waits before it exits, in milliseconds. Nil for an embedded engine, which ends with its
    /// host.
    public var lingerMilliseconds: Int64?
    /// How long the engine waits for the messages of a program that has connected to its socket, in milliseconds.
    /// `hello`: the limit for the first message. `frame`: the limit for the rest of a message that has arrived in part.
    public var timeoutMilliseconds: (hello: Int64, frame: Int64) = (10_000, 30_000)
    /// The places from which the engine reads the system's conditions (such as power and network): /sys, /proc and the
    /// address of the system bus.
    public var conditions = ConditionRoots.fromEnvironment()
    /// Makes the source of the conditions; nil means the system. The source calls the closure `changed` after a change.
    var makeConditionsSource: (@Sendable (_ changed: @escaping @Sendable () -> Void) -> any ConditionsSource)?
    /// Where the engine serves its metrics over HTTP; nil: nowhere.
    public var metricsAddress: MetricsAddress?
    /// This closure takes log entries. It is called on the engine's threads, and must not block for long.
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
