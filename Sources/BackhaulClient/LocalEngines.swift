internal import BackhaulEngine
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import Glibc

/// The engines of this process, one for each store, shared by all applications of the process that have it open.
enum LocalEngines {
    private struct Registered {
        let engine: Engine
        var leases: Int
    }

    private struct State {
        var process: Int32 = 0
        var engines: [StoreIdentity: Registered] = [:]
        var hasExitHook = false
    }

    private static let state = Lock(State())

    /// The engine of this store in this process, if there is one.
    static func join(_ store: StoreIdentity) -> EngineLease? {
        state.withLock { state in
            guard state.process == getpid(), var registered = state.engines[store] else { return nil }
            registered.leases += 1
            state.engines[store] = registered
            return EngineLease(engine: registered.engine, store: store)
        }
    }

    /// Becomes the engine with a lock that was just acquired.
    static func start(
        _ directory: StoreDirectory, _ lock: StoreLock, _ store: StoreIdentity
    ) throws(Failure) -> EngineLease {
        let engine = try Engine(directory: directory, lock: lock, ended: { _ in retire(store) })
        state.withLock { state in
            if state.process != getpid() {
                // Engines of the parent: their threads are not here.
                state = State()
                state.process = getpid()
            }
            state.engines[store] = Registered(engine: engine, leases: 1)
            if !state.hasExitHook {
                state.hasExitHook = true
                installExitHook()
            }
        }
        return EngineLease(engine: engine, store: store)
    }

    static func release(_ store: StoreIdentity, _ engine: Engine) {
        let isLast = state.withLock { state in
            guard state.process == getpid(), var registered = state.engines[store], registered.engine === engine else {
                return true
            }
            registered.leases -= 1
            state.engines[store] = registered.leases > 0 ? registered : nil
            return registered.leases == 0
        }
        if isLast { engine.stop() }
    }

    /// A failed engine takes no new clients; those it has leave it and so stop it.
    private static func retire(_ store: StoreIdentity) {
        state.withLock { $0.engines[store] = nil }
    }

    /// A host that returns from main while TLS runs on our threads would die in OpenSSL's own exit hook. Ours was
    /// registered after OpenSSL's and so runs before it.
    private static func installExitHook() {
        atexit { LocalEngines.stopAll() }
    }

    private static func stopAll() {
        let engines: [Engine] = state.withLock { state in
            defer { state.engines = [:] }
            return state.process == getpid() ? state.engines.values.map(\.engine) : []
        }
        for engine in engines { engine.stop() }
    }
}

/// The store as the kernel knows it: two paths may lead to one.
struct StoreIdentity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
}

/// One client's share in an engine of this process; the last one stops it.
final class EngineLease: Sendable {
    let engine: Engine
    private let store: StoreIdentity
    private let isReleased = Lock(false)

    init(engine: Engine, store: StoreIdentity) {
        self.engine = engine
        self.store = store
    }

    func release() {
        let isFirst = isReleased.withLock { released in
            defer { released = true }
            return !released
        }
        if isFirst { LocalEngines.release(store, engine) }
    }
}
