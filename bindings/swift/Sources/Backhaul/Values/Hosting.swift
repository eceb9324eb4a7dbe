internal import CBackhaul

/// Where the library starts an engine. The *engine* of a store runs the store's tasks. The *store* is a directory with
/// all durable data. If the store has a running engine already, the library uses that engine, wherever it runs.
public enum Hosting: Int32, Hashable, Sendable {
    /// The engine runs in the daemon (backhauld), which the library starts.
    case daemon = 1
    /// The engine runs in threads of this process. This is for tests, for containers, and for programs that must not
    /// start processes.
    case embedded = 2
}

/// The options of an application. They are the fields of bh_application_options, without the launch command.
package struct ApplicationOptions: Sendable {
    package var identifier: String
    package var store: String?
    package var hosting: Hosting?
    package var observes = false
    package var daemon: String?

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
        // Unsafe: the pointer is an opaque handle. This code never dereferences it.
        var pointer: OpaquePointer?
        try check { error in bh_application_open(&options, timeout, &pointer, error) }
        guard let pointer else { throw BackhaulError(BH_INTERNAL) }
        return Handle(pointer: pointer)
    }
}

/// A description of the store's engine. In the comments below, the *host* is the program that uses this library.
public struct EngineInfo: Hashable, Sendable {
    /// The id of the engine's process.
    public let processID: Int64
    /// The version of the engine's library: major, minor and patch, one byte each.
    public let version: UInt32
    /// Nil if the kind of hosting is from a newer version of the library.
    public let hosting: Hosting?
    /// When the engine started, as Unix time in milliseconds.
    public let startedMilliseconds: Int64
    /// The path by which this host opened the store.
    public let store: String
    /// Whether the engine is a daemon in the control group of this process. If true, a service manager that stops the
    /// service of this host also ends the daemon.
    public let sharesControlGroup: Bool
    /// The number of open application handles of the store, including this handle.
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
