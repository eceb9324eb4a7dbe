internal import CBackhaul

/// Where the engine runs when no process holds the store's lock. An engine that runs is used wherever it runs.
public enum Hosting: Int32, Hashable, Sendable {
    /// In backhauld, which the library starts.
    case daemon = 1
    /// In threads of this process: for tests, containers, hosts that must not start processes.
    case embedded = 2
}

/// How an application is opened; the fields of bh_application_options.
package struct ApplicationOptions: Sendable {
    package var identifier: String
    package var store: String?
    package var hosting: Hosting?
    package var observes = false
    package var daemon: String?
    package var launch: LaunchCommand?

    package init(identifier: String) { self.identifier = identifier }

    func open(timeout: Int32) throws(BackhaulError) -> Handle {
        let arena = Arena()
        var options = bh_application_options()
        options.struct_size = MemoryLayout<bh_application_options>.size
        options.identifier = try arena.string(identifier, "the application's identifier")
        options.store = try arena.optionalString(store, "the store's path")
        options.hosting = hosting?.rawValue ?? Int32(BH_HOSTING_DEFAULT)
        options.flags = observes ? UInt32(BH_APPLICATION_OBSERVES) : 0
        options.daemon = try arena.optionalString(daemon, "the daemon's path")
        if let launch { options.launch = arena.array([try launch.value(arena)]) }
        // Unsafe: an opaque handle, never dereferenced here.
        var pointer: OpaquePointer?
        try check { error in bh_application_open(&options, timeout, &pointer, error) }
        guard let pointer else { throw BackhaulError(BH_INTERNAL) }
        return Handle(pointer: pointer)
    }
}

/// The store's engine.
public struct EngineInfo: Hashable, Sendable {
    public let processID: Int64
    /// Of its library: major, minor and patch, one byte each.
    public let version: UInt32
    /// Nil: a kind that only a newer library has.
    public let hosting: Hosting?
    /// Unix time in milliseconds.
    public let startedMilliseconds: Int64
    /// Path of the store as this host opened it.
    public let store: String
    /// A daemon in this process's control group: a service manager that stops this host's service ends the daemon, too.
    public let sharesControlGroup: Bool
    /// Open handles on the store, this one included.
    public let connections: Int

    init(_ info: bh_engine_info) {
        processID = info.process_id
        version = info.version
        hosting = Hosting(rawValue: info.hosting)
        startedMilliseconds = info.started_ms
        store = text(info.store) ?? ""
        sharesControlGroup = info.shares_control_group
        connections = Int(info.connections)
    }
}
