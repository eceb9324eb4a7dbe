/// Where a new engine runs if the store has no engine yet: `BH_HOSTING_…`. The *engine* runs the transfers. A *store*
/// is the directory with their data.
public enum Hosting: Equatable, Sendable {
    /// The engine runs in backhauld, the program at this path; nil: the library searches for backhauld in the usual
    /// directories.
    case daemon(path: String?)
    /// The engine runs in threads of this process.
    case embedded
}

/// The process in which the store's engine runs: the fields of `bh_engine_info` that the engine knows.
public struct EngineInfo: Equatable, Sendable {
    public var processID: Int32
    /// The version in the form of BH_VERSION.
    public var version: UInt32
    public var isDaemon: Bool
    /// When the engine started, in Unix milliseconds.
    public var startedMilliseconds: Int64
    public var connections: UInt32

    public init(
        processID: Int32, version: UInt32, isDaemon: Bool, startedMilliseconds: Int64, connections: UInt32
    ) {
        self.processID = processID
        self.version = version
        self.isDaemon = isDaemon
        self.startedMilliseconds = startedMilliseconds
        self.connections = connections
    }
}
