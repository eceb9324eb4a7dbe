public import BackhaulModel
public import BackhaulPlatform

/// Clients, and the sessions that they consume. Rows, so that a claim outlives the engine that granted it.
public struct ClientOperations {
    let tables: Tables

    /// Gives up the session's claim if this handle has it. Harmless when repeated.
    public func releaseHandle(client: ClientID, handle: HandleID, session: SessionID) throws(Failure) {
        try tables.clients.removeConsumer(of: session, handle, client)
    }

    /// As above, for a handle of which no more is known. Returns the session's identifier, if it consumed one.
    public func releaseHandle(client: ClientID, handle: HandleID) throws(Failure) -> String? {
        guard let session = try tables.clients.session(of: handle, client) else { return nil }
        try tables.clients.removeConsumer(of: session, handle, client)
        return try tables.sessions.names(of: session)?.identifier
    }

    /// The client is gone for good: gives up all its claims and removes its commands.
    public func release(_ client: ClientID) throws(Failure) {
        try tables.clients.remove(client)
        try tables.commands.removeAll(of: client)
    }

    /// Clients of this process, which says itself that it has closed them.
    public func releaseDeparted(_ departed: [ClientID], of process: ProcessIdentity) throws(Failure) {
        for client in departed where try tables.clients.remove(client, of: process) {
            try tables.commands.removeAll(of: client)
        }
    }

    /// Releases every client whose process is gone, and removes commands of unknown clients.
    public func releaseDead() throws(Failure) {
        for consumer in try all() where !consumer.process.isAlive { try release(consumer.client) }
        try tables.commands.removeOrphans()
    }

    /// The clients that have opened sessions here and were not released, with their processes.
    public func all() throws(Failure) -> [(client: ClientID, process: ProcessIdentity)] {
        try tables.clients.all()
    }

    /// Makes the handle the session's consumer. Throws inUse when another handle is, in a process that lives.
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
