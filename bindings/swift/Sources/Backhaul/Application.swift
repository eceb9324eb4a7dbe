internal import CBackhaul

/// An application on a store: the identity under which a host acts.
///
/// Its sessions keep it open. It is closed by `close`, or when its last reference is released. All methods may be
/// called from any Swift task. None of them blocks the calling thread.
public final class Application: Sendable {
    /// The application's name, such as "org.example.photos".
    public let identifier: String
    /// The store's path as passed to `open`; nil: the user's default store (`engine` returns its path).
    public let store: String?
    /// Sessions that begin to need attention. Only one reader may iterate over it; the last 256 sessions are buffered.
    public let attention: AsyncStream<SessionInfo>
    let driver: Driver

    private init(_ identifier: String, _ store: String?, _ driver: Driver, _ attention: AsyncStream<SessionInfo>) {
        self.identifier = identifier
        self.store = store
        self.driver = driver
        self.attention = attention
    }

    deinit { driver.stop() }

    /// Opens the application, and waits until an engine replies: a running one, the daemon, or one in this process.
    ///
    /// - Parameters:
    ///   - identifier: 1 to 255 bytes of letters, digits, '.', '-' and '_', starting with a letter or digit.
    ///   - store: Absolute path of the store's directory, made with mode 0700 if its parent exists. It must be on a
    ///     local file system. Nil: the user's default store: $BACKHAUL_STORE, else $XDG_STATE_HOME/backhaul, else
    ///     ~/.local/state/backhaul. All programs of a user share it, and its limits.
    ///   - hosting: Where a new engine runs if none runs yet; nil: `.daemon`.
    ///   - daemon: Absolute path of backhauld; nil: searched for at $BACKHAUL_DAEMON, beside the library, in
    ///     libexec/backhaul beside the library's directory, then below /usr/local and /usr.
    ///   - launch: A launch command to register, as by `setLaunch`; nil: no change.
    ///   - observes: True if this object belongs to a tool, not to a host: launches take place as if it were not open.
    ///   - timeout: How long to wait for an engine, at most a day. It also limits each later call, but to no less than
    ///     a second.
    /// - Throws: `BackhaulError` with `.invalidArgument`, `.timeout`, `.outOfResources`, `.daemonUnavailable`, or one
    ///   of the store's or the engine's statuses.
    public static func open(
        _ identifier: String, store: String? = nil, hosting: Hosting? = nil, daemon: String? = nil,
        launch: LaunchCommand? = nil, observes: Bool = false, timeout: Duration = .seconds(30)
    ) async throws -> Application {
        let (attention, continuation) = AsyncStream<SessionInfo>.makeStream(bufferingPolicy: .bufferingNewest(256))
        let milliseconds = min(max(0, timeout.wholeMilliseconds), Int64(BH_WAIT_MAXIMUM))
        var options = ApplicationOptions(identifier: identifier)
        options.store = store
        options.hosting = hosting
        options.daemon = daemon
        options.launch = launch
        options.observes = observes
        let driver = try await Driver.open(options, timeout: Int32(milliseconds), attention: continuation)
        return Application(identifier, store, driver, attention)
    }

    /// Closes the application and all handles of its sessions; their tasks continue. If this was the last open
    /// application of the process, it returns after the library's threads have ended. A repeated call has no effect.
    public func close() async { await driver.stopAndWait() }

    /// Creates the session, or attaches it if it exists. An existing session keeps its configuration, and
    /// `Session.isNew` is false; `Session.setConfiguration` changes the configuration.
    public func createSession(
        _ configuration: SessionConfiguration, role: Role = .consume
    ) async throws -> Session {
        let arena = Arena()
        var value = try configuration.value(arena)
        return try await session(configuration.identifier, role) { application, error in
            bh_session_create(application, &value, role.rawValue, BH_START, nil, nil, error)
        }
    }

    /// Attaches a session by its identifier.
    ///
    /// - Throws: `BackhaulError` with `.notFound`, `.invalidated`, or `.inUse` when another handle consumes it
    ///   (`detail` is its process id).
    public func attachSession(_ identifier: String, role: Role = .consume) async throws -> Session {
        let arena = Arena()
        let name = try arena.string(identifier, "the session's identifier")
        return try await session(identifier, role) { application, error in
            bh_session_attach(application, name, role.rawValue, BH_START, nil, error)
        }
    }

    /// All sessions of this application.
    public func sessions() async throws -> [SessionInfo] {
        try await listing(bh_application_sessions) { $0.sessions() }
    }

    /// The store's engine.
    public func engine() async throws -> EngineInfo {
        let engine = try await listing(bh_store_engine) { $0.engine() }
        guard let engine else { throw BackhaulError(BH_INTERNAL) }
        return engine
    }

    /// The store's limits with their defaults filled in.
    public func limits() async throws -> Limits {
        guard let limits = try await listing(bh_store_limits, { $0.limits() }) else {
            throw BackhaulError(BH_INTERNAL)
        }
        return limits
    }

    /// Sets the store's limits durably. They apply immediately.
    public func setLimits(_ limits: Limits) async throws {
        var value = try limits.value()
        try await driver.verb { application, error in
            bh_store_set_limits(application, &value, BH_START, error)
        } take: { outcome throws(BackhaulError) in
            try outcome.done()
        }
    }

    // MARK: Launches

    /// Registers the application's launch command, durably, in place of an earlier one; nil removes it. The call does
    /// not check whether the program exists.
    public func setLaunch(_ command: LaunchCommand?) async throws {
        let arena = Arena()
        let value = arena.array(try command.map { (command) throws(BackhaulError) in [try command.value(arena)] } ?? [])
        try await driver.verb { application, error in
            bh_application_set_launch(application, value, BH_START, error)
        } take: { outcome throws(BackhaulError) in
            try outcome.done()
        }
    }

    /// The launch commands of all applications of the store.
    public func launches() async throws -> [LaunchInfo] {
        try await listing(bh_store_launches) { $0.launches() }
    }

    /// The launch that started this process or one of its ancestors. Nil: there is none, or it is over.
    public func currentLaunch() async throws -> Launch? {
        try await listing(bh_application_current_launch) { $0.launch() }
    }

    func listing<Value>(_ list: Driver.Listing, _ take: (borrowing Batch) -> Value) async throws -> Value {
        try await driver.verb { application, error in
            list(application, BH_START, nil, error)
        } take: { outcome throws(BackhaulError) in
            take(try outcome.batch())
        }
    }

    private func session(_ identifier: String, _ role: Role, _ start: Driver.Start) async throws -> Session {
        let isUnlimited = role == .consumeWhenFree
        let (handle, isNew) = try await driver.verb(isUnlimited: isUnlimited, start) { outcome throws(BackhaulError) in
            try outcome.session()
        }
        return try Session(self, handle, identifier: identifier, role: role, isNew: isNew)
    }
}
