/// Where the engine runs if no process has the store's lock yet: `BH_HOSTING_…`.
public enum Hosting: Equatable, Sendable {
    /// The engine runs in backhauld, at this path, or in one of the usual places.
    case daemon(path: String?)
    /// The engine runs in threads of this process.
    case embedded
}

/// The process that is the store's engine: `bh_engine_info`, as far as the engine knows it.
public struct EngineInfo: Equatable, Sendable {
    public var processID: Int32
    /// The version in the form of BH_VERSION.
    public var version: UInt32
    public var isDaemon: Bool
    /// Unix milliseconds.
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
