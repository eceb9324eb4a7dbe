internal import BackhaulEngine
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import Glibc

/// The engines of this process, one for each store. All applications of the process with the same store share the
/// engine of this store. Each client has a *lease* of its engine. The release of the last lease stops the engine.
final class LocalEngines: Sendable {
    private enum Entry {
        /// A client of this process is starting the engine.
        case starting
        case running(Engine, leases: Int)
    }

    /// An engine that stops. Its closing thread retains it until it has ended.
    private struct StoppingEngine: Sendable {
        weak let engine: Engine?
    }

    private struct State {
        var entries: [FileIdentity: Entry] = [:]
        var stopping: [StoppingEngine] = []
        var hasExitHook = false
        var isExiting = false
    }

    private let state = Lock(State())
    static let current = LocalEngines()

    /// Returns a lease of the store's engine in this process, and starts the engine if it does not run. Nil if another
    /// process runs the engine.
    func lease(_ directory: StoreDirectory) throws(Failure) -> EngineLease? {
        let store = directory.identity
        if let lease = try join(store, orStart: true) { return lease }
        do throws(Failure) {
            guard let lock = try directory.acquireLock() else {
                state.change { $0.entries[store] = nil }
                return nil
            }
            let engine = try Engine(directory: directory, lock: lock, ended: { [self] _ in removeFailed(store) })
            state.change { state in
                state.entries[store] = .running(engine, leases: 1)
                installExitHook(&state)
            }
            return EngineLease(engine: engine, store: store, registry: self)
        } catch {
            state.change { $0.entries[store] = nil }
            throw error
        }
    }

    /// Returns a lease of the store's engine, if it runs in this process already. If the engine is starting, waits for
    /// its start.
    func existingLease(_ directory: StoreDirectory) throws(Failure) -> EngineLease? {
        let store = directory.identity
        guard state.withLock({ $0.entries[store] != nil }) else { return nil }
        return try join(store, orStart: false)
    }

    /// Returns a lease of a running engine; nil if no engine runs. After nil, the caller must start the engine if
    /// `orStart` is true.
    private func join(_ store: FileIdentity, orStart: Bool) throws(Failure) -> EngineLease? {
        enum Found {
            case lease(EngineLease)
            case absent
            case exiting
        }
        let found: Found? = state.wait(until: nil) { state in
            if state.isExiting { return .exiting }
            switch state.entries[store] {
            case .starting: return nil
            case .running(let engine, let leases):
                state.entries[store] = .running(engine, leases: leases + 1)
                return .lease(EngineLease(engine: engine, store: store, registry: self))
            case nil:
                if orStart { state.entries[store] = .starting }
                return .absent
            }
        }
        switch found {
        case .lease(let lease): return lease
        case .absent, nil: return nil
        case .exiting: throw Failure(.engineFailed, "the process is ending")
        }
    }

    /// How long a host waits for an engine that stops, in milliseconds. The header promises about a second. If a disk
    /// hangs, the engine may take longer.
    static let stopMilliseconds: Int64 = 1_000
    /// How long the end of a process waits for an engine that stops, in milliseconds. Before the engine has stopped,
    /// its threads may use OpenSSL, so a slow disk gets more time than in `stopMilliseconds`.
    private static let exitMilliseconds: Int64 = 3_000

    func release(_ store: FileIdentity, _ engine: Engine) {
        let isLast: Bool = state.change { state in
            if case .running(let known, let leases) = state.entries[store], known === engine {
                state.entries[store] = leases > 1 ? .running(engine, leases: leases - 1) : nil
                if leases > 1 { return false }
            }
            state.stopping.removeAll { $0.engine == nil }
            state.stopping.append(StoppingEngine(engine: engine))
            return true
        }
        if isLast { engine.stop(until: .after(milliseconds: Self.stopMilliseconds)) }
    }

    /// Removes an engine that has failed, so that it gets no new clients. Its present clients disconnect, and then the
    /// engine stops.
    private func removeFailed(_ store: FileIdentity) {
        state.change { state in
            guard case .running(let engine, _) = state.entries[store] else { return }
            state.entries[store] = nil
            state.stopping.append(StoppingEngine(engine: engine))
        }
    }

    /// Installs an exit hook that stops all engines. Without this hook, a host would crash in OpenSSL's exit hook if it
    /// returned from main while the engine's threads use TLS. Our hook is registered after OpenSSL's hook, so our hook
    /// runs first.
    private func installExitHook(_ state: inout State) {
        guard !state.hasExitHook else { return }
        state.hasExitHook = true
        // A forked child runs the hook, too, but has no engine.
        atexit { ProcessOrigin.perform { LocalEngines.current.stopAll() } }
    }

    private func stopAll() {
        let engines: [Engine] = state.change { state in
            state.isExiting = true
            defer { state.entries = [:] }
            let running = state.entries.values.compactMap { entry -> Engine? in
                if case .running(let engine, _) = entry { engine } else { nil }
            }
            return running + state.stopping.compactMap(\.engine)
        }
        for engine in engines { engine.stop(until: .after(milliseconds: Self.exitMilliseconds)) }
    }
}

/// A client's lease of an engine of this process. The release of the last lease stops the engine.
final class EngineLease: Sendable {
    let engine: Engine
    private let store: FileIdentity
    private let registry: LocalEngines
    private let isReleased = Lock(false)

    init(engine: Engine, store: FileIdentity, registry: LocalEngines) {
        self.engine = engine
        self.store = store
        self.registry = registry
    }

    func release() {
        let isFirst = isReleased.withLock { released in
            defer { released = true }
            return !released
        }
        if isFirst { registry.release(store, engine) }
    }
}
