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

    /// Whether nothing answers at the store's address now, or what answers is starting or stopping.
    func isAway() -> Bool
}

/// A wait for a remote store that is away, for example because its machine boots.
public struct RemoteStoreWait {
    /// How long the failed attempt and the next one are apart.
    public static let pauseMilliseconds: Int64 = 200

    private let end: Deadline
    private let hasWorked: Bool
    private var hasAnswered = false

    /// - hasWorked: the store was used before, so it may refuse connections only for now, as a replica does until it is
    ///   promoted. Otherwise, a store that answers two times in a row, and refuses, for example because of a wrong
    ///   password, is not asked again.
    public init(milliseconds: Int64, hasWorked: Bool) {
        end = .after(milliseconds: milliseconds)
        self.hasWorked = hasWorked
    }

    /// Whether to try again after this failure.
    public mutating func continues(after failure: Failure, isAway: () -> Bool) -> Bool {
        guard failure.status == .storeUnavailable, !end.hasPassed else { return false }
        if hasWorked || isAway() {
            hasAnswered = false
            return true
        }
        defer { hasAnswered = true }
        return !hasAnswered
    }
}

/// The work of the client's thread if the client uses a remote store. If the connection ends, the thread connects
/// again, and the client repeats its commands that have no reply yet.
struct RemoteConnector: Sendable {
    /// How long commands wait after the connection has ended, for example because the store restarts.
    private static let outageMilliseconds: Int64 = 30_000
    /// How long commands wait for a store that has not been used yet.
    private static let startMilliseconds: Int64 = 10_000

    let store: any RemoteStore
    let state: Lock<ClientState>

    func run() {
        var wait: RemoteStoreWait?
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
                wait = nil
            } catch {
                if wasConnected {
                    state.change { $0.disconnected() }
                    wait = RemoteStoreWait(milliseconds: Self.outageMilliseconds, hasWorked: true)
                }
                var current = wait ?? RemoteStoreWait(milliseconds: Self.startMilliseconds, hasWorked: false)
                if current.continues(after: error, isAway: store.isAway) {
                    wait = current
                    _ = state.wait(until: .after(milliseconds: RemoteStoreWait.pauseMilliseconds)) {
                        $0.isClosed ? true : nil
                    }
                    continue
                }
                wait = nil
                let waiting = state.change { $0.failed(error) }
                for completion in waiting { completion(.failed(error)) }
            }
        }
    }
}
