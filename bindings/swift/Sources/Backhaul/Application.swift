internal import CBackhaul

/// An open application. An application is the name of a *host* in a *store*. A host is a process that uses the library.
/// A store is a directory with the data of all transfers. The *engine* of a store performs the transfers, in a separate
/// process (the daemon) or in this process.
///
/// The application is closed when `close` is called, or when its last reference is released. Each `Session` has a
/// reference to its application. All methods may be called from any Swift task. No method blocks the calling thread.
public final class Application: Sendable {
    /// The application's name, such as "org.example.photos".
    public let identifier: String
    /// The path of the store that was passed to `open`. Nil means the user's default store. The method `engine` returns
    /// the path of that store.
    public let store: String?
    /// Yields each session when it begins to need attention, for example because it has events. Only one reader may
    /// iterate over this stream. The stream buffers the newest 256 sessions.
    public let attention: AsyncStream<SessionInfo>
    let driver: Driver

    private init(_ identifier: String, _ store: String?, _ driver: Driver, _ attention: AsyncStream<SessionInfo>) {
        self.identifier = identifier
        self.store = store
        self.driver = driver
        self.attention = attention
    }

    deinit { driver.stop() }

    /// Opens the application, and waits until an engine replies. If no engine runs, the library starts the daemon or an
    /// engine in this process. `hosting` selects one of the two. If the Swift task is cancelled, the method throws
    /// `CancellationError` immediately.
    ///
    /// - Parameters:
    ///   - identifier: 1 to 255 bytes of letters, digits, '.', '-' and '_', starting with a letter or digit.
    ///   - store: The absolute path of the store's directory. The directory must be on a local file system. If it does
    ///     not exist, the library makes it with mode 0700, in a parent directory that must exist. Nil means the user's
    ///     default store, which all programs of the user share. The path of the default store is $BACKHAUL_STORE, else
    ///     $XDG_STATE_HOME/backhaul, else ~/.local/state/backhaul.
    ///   - hosting: Where the library starts an engine, if no engine runs yet. Nil means `.daemon`.
    ///   - daemon: The absolute path of backhauld. Nil means that the library searches for it, in this order: at
    ///     $BACKHAUL_DAEMON, beside the library, in libexec/backhaul beside the library's directory, and then below
    ///     /usr/local and /usr.
    ///   - launch: A launch command to register, as with `setLaunch`. If it is nil, the registered command does not
    ///     change.
    ///   - observes: Whether the program is a tool that only reads, and not a host. While a host of the application is
    ///     connected, the engine does not launch the host's program. If `observes` is true, this object does not count
    ///     as a connected host, so it does not prevent launches.
    ///   - timeout: The longest wait for an engine, at most a day. It is also the longest wait of each later call. For
    ///     later calls, a time-out below one second counts as one second. The registration of `launch` is such a call.
    ///     The check of files and directories in an enqueue or a claim has no limit. A negative time-out is refused.
    /// - Throws: `BackhaulError` with `.invalidArgument`, `.timeout`, `.outOfResources`, `.daemonUnavailable`, or a
    ///   status that concerns the store or the engine.
    public static func open(
        _ identifier: String, store: String? = nil, hosting: Hosting? = nil, daemon: String? = nil,
        launch: LaunchCommand? = nil, observes: Bool = false, timeout: Duration = .seconds(30)
    ) async throws -> Application {
        let (attention, continuation) = AsyncStream<SessionInfo>.makeStream(bufferingPolicy: .bufferingNewest(256))
        guard timeout >= .zero else {
            throw BackhaulError(.invalidArgument, message: "timeout is \(timeout); give zero or more")
        }
        let milliseconds = min(timeout.wholeMilliseconds, Int64(BH_WAIT_MAXIMUM))
        var options = ApplicationOptions(identifier: identifier)
        options.store = store
        options.hosting = hosting
        options.daemon = daemon
        options.observes = observes
        let driver = try await Driver.open(options, timeout: Int32(milliseconds), attention: continuation)
        let application = Application(identifier, store, driver, attention)
        // With the time-out 0, bh_application_open does not report a failed registration. So its options have no launch
        // command.
        if let launch {
            do {
                try await application.setLaunch(launch)
            } catch {
                await application.close()
                throw error
            }
        }
        return application
    }

    /// Closes the application and all its sessions. The tasks of the sessions continue. If this was the last open
    /// application of the process, the method returns after the library's threads have ended. A second call has no
    /// effect.
    public func close() async { await driver.stopAndWait() }

    /// Creates a session, or attaches to the session if it exists. An existing session keeps its configuration, and
    /// `isNew` of the returned object is false. `Session.setConfiguration` changes the configuration of an existing
    /// session.
    public func createSession(
        _ configuration: SessionConfiguration, role: Role = .consume
    ) async throws -> Session {
        try await session(configuration.identifier, role, .createSession(configuration, role))
    }

    /// Attaches to the session with this identifier. The session may be invalidated: its events can still be read.
    ///
    /// - Throws: `BackhaulError` with `.notFound` or `.inUse`. `.inUse` means that the session already has a consumer:
    ///   another handle reads the session's events. Then `detail` is the id of the process that has this handle.
    public func attachSession(_ identifier: String, role: Role = .consume) async throws -> Session {
        try await session(identifier, role, .attachSession(identifier, role))
    }

    /// Returns all sessions of this application.
    public func sessions() async throws -> [SessionInfo] { try await driver.run(.sessions) }

    /// Returns a description of the store's engine.
    public func engine() async throws -> EngineInfo {
        guard let engine = try await driver.run(.engine) else { throw BackhaulError(BH_INTERNAL) }
        return engine
    }

    /// Returns all applications of the store that have a session, a launch command or a connected host, sorted by
    /// identifier. To list the sessions of another application, open this application with `observes`.
    public func applications() async throws -> [ApplicationInfo] { try await driver.run(.applications) }

    /// Returns the present metrics of the store's engine as OpenMetrics text. docs/metrics.md lists the metrics.
    public func metrics() async throws -> String {
        guard let text = try await driver.run(.metrics) else { throw BackhaulError(BH_INTERNAL) }
        return text
    }

    /// Returns the limits of the store. Limits that were not set have their defaults.
    public func limits() async throws -> Limits {
        guard let limits = try await driver.run(.limits) else { throw BackhaulError(BH_INTERNAL) }
        return limits
    }

    /// Sets the limits of the store. The limits apply immediately.
    public func setLimits(_ limits: Limits) async throws { try await driver.run(.setLimits(limits)) }

    // MARK: Launches

    /// Stores the application's launch command, which replaces an earlier one. The engine runs the command when a
    /// session needs its host, and no host is connected. Nil removes the stored command. The method does not check
    /// whether the program exists.
    public func setLaunch(_ command: LaunchCommand?) async throws { try await driver.run(.setLaunch(command)) }

    /// Returns the launch commands of all applications of the store.
    public func launches() async throws -> [LaunchInfo] { try await driver.run(.launches) }

    /// Returns the launch that started this process or one of its ancestors. A launch is the start of the host's
    /// program by the engine, because sessions need the host. Nil if no launch started this process, or if the launch
    /// is over, for example because all its sessions are completed (`Session.complete`).
    public func currentLaunch() async throws -> Launch? { try await driver.run(.currentLaunch) }

    private func session(
        _ identifier: String, _ role: Role, _ verb: Verb<Application, (Handle, isNew: Bool)>
    ) async throws -> Session {
        let (handle, isNew) = try await driver.run(verb)
        return try Session(self, handle, identifier: identifier, role: role, isNew: isNew)
    }
}
