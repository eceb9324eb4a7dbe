public import BackhaulModel
public import BackhaulPlatform

/// Operations on clients, and on their claims of sessions. A claim is the right of one session handle to read the
/// events of the session. The claim is a row in the database, so it outlives the engine that granted it.
public struct ClientOperations {
    /// The most clients of a living process that stay although they are not connected.
    private static let mostDisconnected = 128

    let tables: Tables

    /// Releases the session's claim if this handle has it. A second call has no effect.
    public func releaseHandle(client: ClientID, handle: HandleID, session: SessionID) throws(Failure) {
        try tables.clients.removeConsumer(of: session, handle, client)
    }

    /// Releases the claim of a handle whose session the caller does not know. Returns the identifier of that session,
    /// or nil if the handle has no claim.
    public func releaseHandle(client: ClientID, handle: HandleID) throws(Failure) -> String? {
        guard let session = try tables.clients.session(of: handle, client) else { return nil }
        try tables.clients.removeConsumer(of: session, handle, client)
        return try tables.sessions.names(of: session)?.identifier
    }

    /// Releases the claims of clients that have disconnected. If the process of such a client is alive, the client may
    /// connect again, and repeat a command that was applied. So the client and its stored replies stay, until its
    /// process ends or reports the client as closed (`releaseClosed`), or is not among its last clients.
    ///
    /// - connected: the clients that are connected now. Their processes are not checked.
    public func releaseClaims(of disconnected: [ClientID], connected: Set<ClientID>) throws(Failure) {
        for client in disconnected { try tables.clients.removeClaims(of: client) }
        try releaseDead(except: connected, last: Self.mostDisconnected)
    }

    /// Releases the clients that a process reports as closed: removes their claims and their stored replies. Only
    /// clients of this process are released.
    public func releaseClosed(_ closedClients: [ClientID], of process: ProcessIdentity) throws(Failure) {
        for client in closedClients where try tables.clients.remove(client, of: process) {
            try tables.commands.removeAll(of: client)
        }
    }

    /// Releases every client whose process has ended, and removes stored replies of unknown clients.
    ///
    /// - last: how many of a living process's clients stay. Connected clients are not counted.
    public func releaseDead(except connected: Set<ClientID> = [], last: Int = .max) throws(Failure) {
        var places: [ProcessIdentity: Int] = [:]
        for (client, process) in try tables.clients.all().reversed() where !connected.contains(client) {
            let left = places[process] ?? (process.isAlive ? last : 0)
            places[process] = left - 1
            if left <= 0 { try tables.clients.remove(client) }
        }
        try tables.commands.removeOrphans()
    }

    /// Returns the clients that have claims.
    public func withClaims() throws(Failure) -> [ClientID] { try tables.clients.withClaims().map(\.client) }

    /// Gives the session's claim to the consumer. Throws inUse when another handle has the claim and the process of
    /// that handle is alive.
    func claim(_ session: OpenedSession, for consumer: ConsumerIdentity) throws(Failure) {
        if let holder = try tables.clients.consumer(of: session.id) {
            if holder.client == consumer.client, holder.handle == consumer.handle { return }
            guard !holder.process.isAlive else {
                throw Failure(
                    .inUse,
                    "another handle, in process \(holder.process.processID), consumes the session "
                        + "\(session.configuration.identifier); close that one, or attach to produce or observe",
                    domain: .process, detail: Int64(holder.process.processID))
            }
        }
        try tables.clients.setConsumer(of: session.id, consumer)
    }
}
