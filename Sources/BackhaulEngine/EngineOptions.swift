public import BackhaulConditions
public import BackhaulModel

/// How an engine runs, and whom it tells of itself.
public struct EngineOptions: Sendable {
    /// A daemon ends when nothing was left to do for so long. Nil: inside of a host, with which it ends.
    public var lingerMilliseconds: Int64?
    /// How long a peer on the socket may owe its hello, or the rest of a frame.
    public var patienceMilliseconds: (hello: Int64, frame: Int64) = (10_000, 30_000)
    /// Where the system is read.
    public var conditions = ConditionRoots.fromEnvironment()
    /// In place of all of that.
    public var toldConditions: ToldConditions?
    /// Called on the engine's threads; must not block for long.
    public var log: @Sendable (LogEntry) -> Void

    public var isDaemon: Bool { lingerMilliseconds != nil }

    public static var embedded: EngineOptions { EngineOptions(lingerMilliseconds: nil, log: { _ in }) }

    public init(lingerMilliseconds: Int64?, log: @escaping @Sendable (LogEntry) -> Void) {
        self.lingerMilliseconds = lingerMilliseconds
        self.log = log
    }
}

/// Why an engine wants to be stopped by whoever made it.
public enum EngineEnd: Equatable, Sendable {
    /// It cannot go on.
    case failed(Failure)
    /// A daemon without anything to do. It takes no clients any more.
    case nothingLeft
    /// A newer library takes over: the library's version.
    case replaced(by: Versions)
}
