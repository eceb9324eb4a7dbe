internal import BackhaulModel
internal import BackhaulStore

/// The connected clients. For each session, the registry also knows which handle is the consumer.
///
/// Each engine has one object of this type.
final class ClientRegistry {
    private(set) var connections: [ConnectionID: ClientConnection] = [:]
    private var consumers: [SessionID: HandleAddress] = [:]

    subscript(_ id: ConnectionID) -> ClientConnection? { connections[id] }

    /// All connections, in the order in which they were made.
    var all: [ClientConnection] { connections.values.sorted { $0.id < $1.id } }

    /// The ids of the clients that have introduced themselves, by a message *hello*.
    var clients: Set<ClientID> { Set(connections.values.compactMap { $0.hello?.client }) }

    func add(_ connection: ClientConnection) { connections[connection.id] = connection }

    /// Removes the connection. Afterwards, the sessions that the client consumed have no consumer.
    func remove(_ id: ConnectionID) -> ClientConnection? {
        guard let connection = connections.removeValue(forKey: id) else { return nil }
        for (session, address) in consumers where address.connection == id { consumers[session] = nil }
        connection.noteEnd()
        return connection
    }

    func removeAll() -> [ClientConnection] {
        defer { (connections, consumers) = ([:], [:]) }
        return all
    }

    // MARK: Consumers

    /// The handle that receives the session's events, and its connection.
    func consumer(of session: SessionID) -> (connection: ClientConnection, handle: HandleID)? {
        guard let address = consumers[session], let connection = connections[address.connection] else { return nil }
        return (connection, address.handle)
    }

    func setConsumer(of session: SessionID, _ address: HandleAddress) { consumers[session] = address }

    func detached(_ address: HandleAddress, from session: SessionID) {
        if consumers[session] == address { consumers[session] = nil }
    }
}

/// A handle and the connection of its client. The id of a handle is unique only within one connection.
struct HandleAddress: Hashable {
    var connection: ConnectionID
    var handle: HandleID
}
