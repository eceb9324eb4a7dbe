public import BackhaulModel
internal import BackhaulBus
internal import BackhaulPlatform

/// Watches what NetworkManager and logind say on the system bus, and delays system sleep until what is under way is
/// written. A thread of its own asks when it begins and when something has changed, and else waits: for signals and for
/// `close`. Without a bus it tries again after pauses that grow to 30 s, and then when the place where it would listen
/// changes. It starts no service, and a bus that hangs keeps nobody waiting. Any thread may use it.
public final class BusWatch: Sendable {
    /// How long an answer may take before it counts as none.
    static let patienceMilliseconds: Int64 = 2_000
    /// Seconds between tries to reach a bus.
    static let pauses: [Int64] = [1, 2, 4, 8, 16, 30]

    private let shared: Shared
    private let thread: Thread

    /// Nil where libsystemd is missing, and where the process has no more threads or descriptors.
    /// - Parameters:
    ///   - address: Of the bus (D-Bus specification, "Server Addresses"); nil: the system's, as
    ///     DBUS_SYSTEM_BUS_ADDRESS or its default says.
    ///   - wants: Of these, `.network` and `.sleep`.
    public static func start(address: String?, wants: ConditionNeeds) -> BusWatch? {
        guard BusConnection.isLibraryPresent, let shared = try? Shared(wants) else { return nil }
        let place = address.map(BusAddress.local(_:)) ?? BusAddress.system
        guard
            let thread = try? Thread(name: "backhaul-bus", body: {
                BusConversation(address: place, shared: shared).run()
            })
        else { return nil }
        return BusWatch(shared, thread)
    }

    private init(_ shared: Shared, _ thread: Thread) {
        self.shared = shared
        self.thread = thread
    }

    /// Readable while there are readings that were not taken, the first ones included.
    public var number: Int32 { shared.changed.number }

    /// The newest ones.
    public func takeReadings() -> BusReadings { shared.take() }

    /// Of these from now on, without a gap in what was wanted before.
    public func want(_ wants: ConditionNeeds) { shared.want(wants) }

    /// What was to be done before the sleep that is prepared is done. Without it logind waits for as long as
    /// InhibitDelayMaxUSec says (logind.conf(5); 5 s).
    public func readyToSleep() { shared.delay.ready() }

    /// Ends the thread and the delay. Waits for no answer. Harmless when repeated.
    public func close() {
        shared.close()
        thread.join()
        shared.delay.end()
    }

    deinit { close() }

    /// What the thread and everyone else use.
    final class Shared: Sendable {
        let changed: WakeUp
        /// Of other wants, or of the end.
        let told: WakeUp
        let delay = SleepDelay()

        private struct State {
            var wants: ConditionNeeds
            var readings = BusReadings()
            var isClosed = false
        }

        private let state: Lock<State>

        init(_ wants: ConditionNeeds) throws(SystemError) {
            changed = try WakeUp()
            told = try WakeUp()
            state = Lock(State(wants: wants))
        }

        /// False, too, when the host has closed the descriptors.
        var isOpen: Bool { told.isOurs && changed.isOurs && !state.withLock { $0.isClosed } }

        func close() {
            state.withLock { $0.isClosed = true }
            told.set()
        }

        func want(_ wants: ConditionNeeds) {
            state.withLock { $0.wants = wants }
            told.set()
        }

        func takeWants() -> ConditionNeeds {
            state.withLock { state in
                // The end is told until it is heard.
                if !state.isClosed { told.clear() }
                return state.wants
            }
        }

        func publish(_ readings: BusReadings) {
            state.withLock { state in
                if state.readings == readings { return }
                state.readings = readings
                changed.set()
            }
        }

        func take() -> BusReadings {
            state.withLock { state in
                changed.clear()
                return state.readings
            }
        }
    }
}
