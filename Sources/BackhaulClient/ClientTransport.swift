internal import BackhaulEngine
public import BackhaulModel

/// A connection from a client to its engine, through memory or over the store's socket. A *client* is the part of the
/// library that sends a program's commands to the engine. A program has one client for each application that it has
/// opened. The *engine* runs the tasks of a *store*, which is a directory with all durable data. A connection to a
/// remote store (`RemoteStore`) has no engine. Clients use all kinds of connections in the same way.
public protocol ClientTransport: Sendable {
    /// Sends a message without blocking. After the end of the connection, messages are dropped. The transport reports
    /// the end separately.
    func send(_ message: ClientMessage)
    func close()
}

extension LocalPort: ClientTransport {}
