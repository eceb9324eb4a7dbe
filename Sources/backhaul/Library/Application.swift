import CBackhaul

/// An open application, through which this process uses a store (the directory with all data). The *engine* is the
/// process that runs the transfers of the store. If this process runs the engine, closing the application ends the
/// engine.
final class Application {
    // Unsafe: an opaque handle of the library, never dereferenced here.
    let handle: OpaquePointer?
    let signals: Signals

    /// - Parameter observes: Whether the process only observes, and does not count as a host (a program that embeds the
    ///   library). While no host of the application runs, the engine may launch the application's registered program.
    init(
        identifier: String, store: String?, isEmbedded: Bool, daemon: String?, observes: Bool, signals: Signals
    ) throws(CommandError) {
        self.signals = signals
        let arena = CStringArena()
        var options = bh_application_options()
        options.struct_size = MemoryLayout<bh_application_options>.size
        options.identifier = arena.string(identifier)
        options.store = arena.optionalString(store)
        options.hosting = Int32(isEmbedded ? BH_HOSTING_EMBEDDED : BH_HOSTING_DAEMON)
        options.daemon = arena.optionalString(daemon)
        options.flags = observes ? UInt32(BH_APPLICATION_OBSERVES) : 0
        var handle: OpaquePointer?
        // This call does not wait for the engine. The first function that sends a command waits for the engine, and
        // Ctrl-C can interrupt this wait.
        do { try check { error in bh_application_open(&options, 0, &handle, error) } } catch { throw .failure(error) }
        self.handle = handle
    }

    /// Opens the application as an observer. An observer starts no daemon (a process that runs only an engine), and
    /// does not become the engine.
    convenience init(observing store: String, identifier: String, signals: Signals) throws(CommandError) {
        // No program can have this path, so no daemon is started, even if the engine ends at this moment.
        try self.init(
            identifier: identifier, store: store, isEmbedded: false, daemon: "/dev/null/backhauld", observes: true,
            signals: signals)
    }

    func engine() throws(CommandError) -> EngineRecord? {
        let ticket = try Ticket { bh_store_engine(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().engine()
    }

    func close() { bh_application_close(handle) }

    func sessions() throws(CommandError) -> [SessionRecord] {
        let ticket = try Ticket { bh_application_sessions(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().sessions()
    }

    /// Whether this process should give up the right to read the events of the session (a named collection of
    /// transfers), because another process waits for this right. For each such request, this function returns true one
    /// time. If the engine does not reply within a second, the result is false, and a later call
    /// reports the request.
    func isAskedToYield(_ session: String) throws(CommandError) -> Bool {
        var batch: OpaquePointer?
        do {
            try check { error in bh_application_poll(handle, 0, &batch, error) }
        } catch {
            if error.is(BH_TIMEOUT) || error.is(BH_ENGINE_UNRESPONSIVE) { return false }
            throw .failure(error)
        }
        return Batch(batch).sessions().contains {
            $0.identifier == session && Int($0.attention) & BH_ATTENTION_YIELD != 0
        }
    }

    func launches() throws(CommandError) -> [LaunchRecord] {
        let ticket = try Ticket { bh_store_launches(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().launches()
    }

    func limits() throws(CommandError) -> LimitsRecord {
        let ticket = try Ticket { bh_store_limits(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        guard let limits = try ticket.batch().limits() else {
            throw .stopped(.libraryFailed, "The library gave no limits.")
        }
        return LimitsRecord(limits)
    }

    func set(_ limits: LimitsRecord) throws(CommandError) {
        var limits = limits.limits
        let ticket = try Ticket { bh_store_set_limits(handle, &limits, BH_START, $0) }
        try ticket.wait(signals)
    }

    /// The sessions of the launch that started this program. The list is empty if the engine did not launch this
    /// program.
    func sessionsOfLaunch() throws(CommandError) -> [String] {
        let ticket = try Ticket { bh_application_current_launch(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().sessionsOfLaunch()
    }

    /// Registers a program that the engine launches when a session needs it. Nil removes the registration.
    func register(_ program: LaunchProgram?) throws(CommandError) {
        let arena = CStringArena()
        let command = arena.array(program.map { [$0.command(arena)] } ?? [])
        let ticket = try Ticket { bh_application_set_launch(handle, command, BH_START, $0) }
        try ticket.wait(signals)
    }

    func attach(_ identifier: String, role: Int) throws(CommandError) -> Session {
        let arena = CStringArena()
        let ticket = try Ticket { bh_session_attach(handle, arena.string(identifier), Int32(role), BH_START, nil, $0) }
        do {
            try ticket.wait(signals, isLimited: role != BH_ROLE_CONSUME_WHEN_FREE)
        } catch {
            if case .failure(let failure) = error, failure.is(BH_NOT_FOUND) {
                throw .failure(
                    failure.withMessage(
                        "There is no session '\(identifier)'; `backhaul sessions` lists the sessions. The first "
                            + "transfer of a session creates it."))
            }
            throw error.inUse(identifier)
        }
        return Session(try ticket.session().0, isNew: false, signals: signals)
    }

    /// Creates the session. If the session exists, attaches to it, and changes its stored settings to the given
    /// settings.
    func create(_ settings: SessionSettings, role: Int) throws(CommandError) -> Session {
        let base = try settings.base.flatMap { name throws(CommandError) in try attachIfExists(name) }
        if let base {
            return try base.withConfiguration { (stored) throws(CommandError) in
                try create(settings, over: stored, role: role)
            }
        }
        return try create(settings, over: nil, role: role)
    }

    /// - Parameter base: The configuration that the settings of a variant change.
    private func create(
        _ settings: SessionSettings, over base: bh_session_configuration?, role: Int
    ) throws(CommandError) -> Session {
        let arena = CStringArena()
        var configuration = settings.configuration(arena, over: base)
        let ticket = try Ticket { bh_session_create(handle, &configuration, Int32(role), BH_START, nil, nil, $0) }
        do {
            try ticket.wait(signals)
        } catch {
            throw error.inUse(settings.identifier)
        }
        let (pointer, isNew) = try ticket.session()
        let session = Session(pointer, isNew: isNew, signals: signals) { () throws(CommandError) in
            try self.create(settings, role: role)
        }
        if isNew || !settings.hasChanges { return session }
        if settings.base != nil {
            try session.set(&configuration)
        } else {
            try session.withConfiguration { (stored) throws(CommandError) in
                var configuration = settings.configuration(arena, over: stored)
                try session.set(&configuration)
            }
        }
        return session
    }

    private func attachIfExists(_ session: String) throws(CommandError) -> Session? {
        do {
            return try attach(session, role: BH_ROLE_OBSERVE)
        } catch {
            guard case .failure(let failure) = error, failure.is(BH_NOT_FOUND) else { throw error }
            return nil
        }
    }
}

extension CommandError {
    /// Replaces the message of the error `BH_IN_USE` by a message that names the session and its consumer, the process
    /// that reads its events.
    fileprivate func inUse(_ session: String) -> CommandError {
        guard case .failure(let failure) = self, failure.is(BH_IN_USE) else { return self }
        return .failure(
            failure.withMessage(
                "process \(failure.detail) reads the events of session \(session); only one process can do this at a "
                    + "time, so try again when it has ended"))
    }
}
