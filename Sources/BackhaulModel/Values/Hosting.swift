/// Where the engine runs when nobody holds the store's lock yet: `BH_HOSTING_…`.
public enum Hosting: Equatable, Sendable {
    /// In backhauld; at this path, or where it is looked for.
    case daemon(path: String?)
    /// In threads of this process.
    case embedded
}

/// Who the store's engine is: `bh_engine_info`, as far as the engine knows it.
public struct EngineInfo: Equatable, Sendable {
    public var processID: Int32
    /// In the form of BH_VERSION.
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
