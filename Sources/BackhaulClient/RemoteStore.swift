public import BackhaulModel
internal import BackhaulPlatform

/// A store on other machines, which the client speaks to in place of an engine.
public protocol RemoteStore: Sendable {
    /// Connects to the store, and serves the client until the transport is closed or the connection ends. The client's
    /// thread calls it. Throws if the store cannot be used.
    ///
    /// - connected: called one time with the transport over which the client sends its messages. If the result is
    ///   false, the client was closed meanwhile.
    /// - deliver: called with each message for the client.
    func serve(
        _ hello: Hello, connected: (any ClientTransport) -> Bool, deliver: (EngineMessage) -> Void
    ) throws(Failure)
}

/// The work of the client's thread if the client uses a remote store. If the connection ends, the thread connects
/// again, and the client repeats its commands that have no reply yet.
struct RemoteConnector: Sendable {
    /// How long commands wait after the connection has ended, for example because the store restarts.
    private static let outageMilliseconds: Int64 = 30_000
    private static let pauseMilliseconds: Int64 = 200

    let store: any RemoteStore
    let state: Lock<ClientState>

    func run() {
        var outage: Deadline?
        while EngineConnector.waitUntilConnecting(state) {
            let process = ProcessIdentity.current.processID
            var wasConnected = false
            do throws(Failure) {
                try store.serve(
                    state.withLock { $0.hello(process: process) },
                    connected: { transport in
                        wasConnected = true
                        return state.change { $0.connected(transport, engineProcess: process, isLocal: true) }
                    },
                    deliver: { EngineConnector.deliver($0, state) })
                state.change { $0.disconnected() }
                outage = .after(milliseconds: Self.outageMilliseconds)
            } catch {
                if wasConnected {
                    state.change { $0.disconnected() }
                    outage = .after(milliseconds: Self.outageMilliseconds)
                }
                if let outage, !outage.hasPassed, error.status == .storeUnavailable {
                    _ = state.wait(until: .after(milliseconds: Self.pauseMilliseconds)) { $0.isClosed ? true : nil }
                    continue
                }
                outage = nil
                let waiting = state.change { $0.failed(error) }
                for completion in waiting { completion(.failed(error)) }
            }
        }
    }
}
