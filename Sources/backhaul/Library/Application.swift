import CBackhaul

/// An open application. Closing it hands the store's engine over, if it was here.
final class Application {
    // Unsafe: an opaque handle of the library, never dereferenced here.
    let handle: OpaquePointer?
    let signals: Signals

    init(identifier: String, store: String, signals: Signals) throws(CommandError) {
        self.signals = signals
        let arena = CStringArena()
        var options = bh_application_options()
        options.struct_size = MemoryLayout<bh_application_options>.size
        options.identifier = arena.string(identifier)
        options.store = arena.string(store)
        var handle: OpaquePointer?
        // Without waiting: the first verb does that, where Ctrl-C is heard.
        do { try check { error in bh_application_open(&options, 0, &handle, error) } } catch { throw .failure(error) }
        self.handle = handle
    }

    /// For a tool that looks on: nothing is started for its sake, and no engine is replaced.
    init(observing store: String, identifier: String, signals: Signals) throws(CommandError) {
        self.signals = signals
        let arena = CStringArena()
        var options = bh_application_options()
        options.struct_size = MemoryLayout<bh_application_options>.size
        options.identifier = arena.string(identifier)
        options.store = arena.string(store)
        options.flags = UInt32(BH_APPLICATION_OBSERVES)
        options.hosting = Int32(BH_HOSTING_DAEMON)
        // Where no program can be: an engine that ends just now is not followed by another.
        options.daemon = arena.string("/dev/null/backhauld")
        var handle: OpaquePointer?
        do { try check { error in bh_application_open(&options, 0, &handle, error) } } catch { throw .failure(error) }
        self.handle = handle
    }

    func engine() throws(CommandError) -> EngineRecord? {
        let ticket = try Ticket { bh_application_engine_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().engine()
    }

    func launches() throws(CommandError) -> [LaunchRecord] {
        let ticket = try Ticket { bh_application_launches_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().launches()
    }

    func close() { bh_application_close(handle) }

    func sessions() throws(CommandError) -> [SessionRecord] {
        let ticket = try Ticket { bh_application_sessions_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().sessions()
    }

    func attach(_ identifier: String, role: Int) throws(CommandError) -> Session {
        let arena = CStringArena()
        let ticket = try Ticket { bh_session_attach_start(handle, arena.string(identifier), Int32(role), $0, $1) }
        try ticket.wait(signals)
        return Session(try ticket.session().0, signals: signals)
    }

    /// Creates the session, or attaches and makes its remembered settings those that are given here.
    func create(_ settings: SessionSettings, role: Int) throws(CommandError) -> Session {
        let arena = CStringArena()
        var configuration = settings.configuration(arena, over: nil)
        let ticket = try Ticket { bh_session_create_start(handle, &configuration, Int32(role), $0, $1) }
        try ticket.wait(signals)
        let (pointer, isNew) = try ticket.session()
        let session = Session(pointer, signals: signals)
        if !isNew && settings.hasChanges { try session.update(settings) }
        return session
    }
}

/// The settings of a session that the command line can give.
struct SessionSettings {
    var identifier: String
    var certificates: String?
    var maximumAttempts: UInt32?

    var hasChanges: Bool { certificates != nil || maximumAttempts != nil }

    /// - Parameter remembered: keeps what is not given here.
    func configuration(
        _ arena: CStringArena, over remembered: bh_session_configuration?
    ) -> bh_session_configuration {
        var configuration = remembered ?? bh_session_configuration()
        configuration.struct_size = MemoryLayout<bh_session_configuration>.size
        configuration.identifier = arena.string(identifier)
        if let certificates { configuration.ca_file = arena.string(certificates) }
        if let maximumAttempts { configuration.maximum_attempts = maximumAttempts }
        return configuration
    }
}
