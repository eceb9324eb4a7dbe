import Backhaul

/// An open application, through which this process uses a store. If this process runs the engine, closing the
/// application ends the engine.
final class Application {
    private let application: BlockingApplication
    private let options: ApplicationOptions
    /// The other applications of the store that were opened.
    private var others: [String: Application] = [:]
    let signals: Signals

    var identifier: String { options.identifier }

    /// Opens the application, and does not wait for the engine. The first verb waits for the engine, and Ctrl-C can
    /// interrupt this wait.
    init(_ options: ApplicationOptions, signals: Signals) throws(CommandError) {
        self.signals = signals
        self.options = options
        application = try signals.call { () throws(BackhaulError) in
            let patience = Patience(limitWhileStopped: .seconds(5)) { signals.isPending }
            return try BlockingApplication(options, timeout: 0, patience: patience)
        }
    }

    /// Opens the application as an observer, which starts no daemon and does not become the engine.
    convenience init(observing store: String, identifier: String, signals: Signals) throws(CommandError) {
        var options = ApplicationOptions(identifier: identifier)
        options.store = store
        options.observes = true
        // No program can have this path, so no daemon is started, even if the engine ends at this moment.
        options.daemon = "/dev/null/backhauld"
        try self.init(options, signals: signals)
    }

    /// Opens another application of the same store, as an observer. It is closed together with this one.
    func other(_ identifier: String) throws(CommandError) -> Application {
        if identifier == self.identifier { return self }
        if let other = others[identifier] { return other }
        var options = options
        options.identifier = identifier
        options.observes = true
        let other = try Application(options, signals: signals)
        others[identifier] = other
        return other
    }

    /// Closes another application that `other` has opened.
    func closeOther(_ identifier: String) { others.removeValue(forKey: identifier)?.close() }

    func close() {
        for other in others.values { other.close() }
        application.close()
    }

    /// Leaves the application open until the process ends.
    func leaveOpen() {
        for other in others.values { other.leaveOpen() }
        application.leaveOpen()
    }

    @discardableResult
    func run<Value>(
        _ verb: @autoclosure () throws(BackhaulError) -> Verb<Backhaul.Application, Value>
    ) throws(CommandError) -> Value {
        try signals.call { () throws(BackhaulError) in try application.run(try verb()) }
    }

    func limits() throws(CommandError) -> Backhaul.Limits {
        guard let limits = try run(.limits) else { throw .stopped(.libraryFailed, "the library gave no limits") }
        return limits
    }

    func metrics() throws(CommandError) -> String {
        guard let text = try run(.metrics) else { throw .stopped(.libraryFailed, "the library gave no metrics") }
        return text
    }

    /// Whether this process should give up the right to read the events of the session, because another process waits
    /// for this right. For each such request, this function returns true one time. If the engine does not reply at
    /// once, the result is false, and a later call reports the request.
    func isAskedToYield(_ session: String) throws(CommandError) -> Bool {
        do throws(BackhaulError) {
            return try application.poll(timeout: 0).contains { $0.identifier == session && $0.asksToYield }
        } catch {
            if error.status == .timeout || error.status == .engineUnresponsive { return false }
            throw .failure(error.spoken)
        }
    }

    func attach(_ name: String, role: Role) throws(CommandError) -> Session {
        do {
            let session = try signals.call { () throws(BackhaulError) in
                try application.attachSession(name, role: role)
            }
            return Session(session, signals: signals)
        } catch {
            throw error.inUse(name).with(.notFound) { _ in
                "The application '\(identifier)' has no session '\(name)'; `backhaul sessions` lists the sessions of "
                    + "all applications, and --application chooses one. The first transfer of a session creates it."
            }
        }
    }

    /// Creates the session. If the session exists, attaches to it, and changes its stored settings to the given
    /// settings.
    func create(_ settings: SessionSettings, role: Role) throws(CommandError) -> Session {
        let base = try settings.base.flatMap { name throws(CommandError) in
            try attachIfExists(name)?.configuration()
        }
        let configuration = settings.configuration(over: base)
        let session: Session
        do {
            let created = try signals.call { () throws(BackhaulError) in
                try application.createSession(configuration, role: role)
            }
            session = Session(created, signals: signals) { () throws(CommandError) in
                try self.create(settings, role: role)
            }
        } catch {
            throw error.inUse(settings.identifier)
        }
        if session.isNew || !settings.hasChanges { return session }
        let changed =
            settings.base == nil ? settings.configuration(over: try session.configuration()) : configuration
        try session.run(.setConfiguration(changed))
        return session
    }

    func attachIfExists(_ session: String) throws(CommandError) -> Session? {
        do {
            return try attach(session, role: .observe)
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }
}

extension CommandError {
    /// If the session is in use, the same error with a message that names the session and its consumer.
    fileprivate func inUse(_ session: String) -> CommandError {
        with(.inUse) { error in
            "process \(error.detail) reads the events of session \(session); only one process can do this at a time, "
                + "so try again when it has ended"
        }
    }
}
