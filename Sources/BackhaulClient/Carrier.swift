internal import BackhaulEngine
internal import BackhaulModel
internal import BackhaulPlatform

/// How a client's messages reach its engine: through memory or over the store's socket. They cannot be told apart but
/// by speed.
protocol Carrier: Sendable {
    /// Never blocks; what cannot be sent any more is dropped, because the end of the carrier is told separately.
    func send(_ message: ClientMessage)
    func close()
}

/// An engine of this process.
final class LocalCarrier: Carrier {
    private let port: LocalPort
    private let lease: EngineLease

    init(lease: EngineLease, deliver: @escaping @Sendable (EngineMessage) -> Void) {
        self.lease = lease
        port = lease.engine.connect(deliver)
    }

    func send(_ message: ClientMessage) { port.send(message) }

    func close() {
        port.close()
        lease.release()
    }
}
