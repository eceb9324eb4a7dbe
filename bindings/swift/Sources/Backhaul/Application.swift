internal import CBackhaul

/// The identity under which a program acts, open on a store. Sessions keep it open; it is closed by `close`, or with
/// its last reference.
///
/// All methods may be called from any Swift task. None of them blocks the thread that it is called on.
public final class Application: Sendable {
    /// Such as "org.example.photos".
    public let identifier: String
    /// Absolute path of the store's directory.
    public let store: String
    /// Sessions that begin to need attention: events wait in them. For one reader; the last 256 are kept for it.
    public let attention: AsyncStream<SessionInfo>
    let driver: Driver

    private init(_ identifier: String, _ store: String, _ driver: Driver, _ attention: AsyncStream<SessionInfo>) {
        self.identifier = identifier
        self.store = store
        self.driver = driver
        self.attention = attention
    }

    deinit { driver.stop() }

    /// Opens the application and waits until an engine answers: another process's, or one in this process.
    ///
    /// - Parameters:
    ///   - identifier: 1 to 255 bytes of letters, digits, '.', '-' and '_', starting with a letter or digit.
    ///   - store: Absolute path; made with mode 0700 if its parent exists. On a local file system.
    ///   - timeout: How long to wait for an engine, at most a day. The limit of each later verb, too, which is at least
    ///     a second.
    /// - Throws: `BackhaulError` with `.invalidArgument`, `.timeout`, `.outOfResources`, or one of the store's or the
    ///   engine's statuses.
    public static func open(
        _ identifier: String, store: String, timeout: Duration = .seconds(30)
    ) async throws -> Application {
        let (attention, continuation) = AsyncStream<SessionInfo>.makeStream(bufferingPolicy: .bufferingNewest(256))
        let milliseconds = min(max(0, timeout.wholeMilliseconds), Int64(BH_WAIT_MAXIMUM))
        let driver = try await Driver.open(
            identifier, store: store, timeout: Int32(milliseconds), attention: continuation)
        return Application(identifier, store, driver, attention)
    }

    /// Closes the application and all of its sessions' handles; their tasks go on. Returns when the library's threads
    /// have ended, if this was the process's last. Harmless when repeated.
    public func close() async { await driver.stopAndWait() }

    /// Creates the session, or attaches to it when it exists (`Session.isNew` tells); then its remembered configuration
    /// stays.
    public func createSession(
        _ configuration: SessionConfiguration, role: Role = .consume
    ) async throws -> Session {
        let arena = Arena()
        var value = try configuration.value(arena)
        return try await session(configuration.identifier, role) { application, ticket, error in
            bh_session_create_start(application, &value, role.rawValue, ticket, error)
        }
    }

    /// Attaches to a session by its identifier.
    ///
    /// - Throws: `BackhaulError` with `.notFound`, `.invalidated`, or `.inUse` when another living handle consumes it
    ///   (`detail` is its process id).
    public func attachSession(_ identifier: String, role: Role = .consume) async throws -> Session {
        let arena = Arena()
        let name = try arena.string(identifier, "the session's identifier")
        return try await session(identifier, role) { application, ticket, error in
            bh_session_attach_start(application, name, role.rawValue, ticket, error)
        }
    }

    /// All sessions of this application.
    public func sessions() async throws -> [SessionInfo] {
        try await driver.verb { application, ticket, error in
            bh_application_sessions_start(application, ticket, error)
        } take: { answer throws(BackhaulError) in
            try answer.batch().sessions()
        }
    }

    private func session(_ identifier: String, _ role: Role, _ start: Driver.Start) async throws -> Session {
        let (handle, isNew) = try await driver.verb(start) { answer throws(BackhaulError) in try answer.session() }
        return try Session(self, handle, identifier: identifier, role: role, isNew: isNew)
    }
}
