public import BackhaulModel
internal import BackhaulBus
internal import BackhaulPlatform

/// Watches NetworkManager and logind on the system bus, and delays system sleep until running transfers are written.
///
/// Its own thread calls the services at the start and after changes. Otherwise it waits for signals and for `close`.
/// Without a bus it retries after pauses that grow to 30 s, and then when the directory of the bus's socket changes. It
/// starts no service, and a bus that hangs delays no other thread. Any thread may use this object.
public final class BusWatch: Sendable {
    /// How long a reply may take before it counts as missing.
    static let patienceMilliseconds: Int64 = 2_000
    /// The seconds between attempts to reach a bus.
    static let pauses: [Int64] = [1, 2, 4, 8, 16, 30]

    private let shared: Shared
    private let thread: Thread

    /// Returns nil if libsystemd is missing, or if the process has no thread or descriptor left.
    /// - address: the bus's address (D-Bus specification, "Server Addresses"). Nil: the system's bus, from
    ///   DBUS_SYSTEM_BUS_ADDRESS or the default.
    /// - wants: `.network`, `.sleep` or both.
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

    /// Readable while there are readings that were not taken. This includes the first ones.
    public var number: Int32 { shared.changed.number }

    /// The newest readings.
    public func takeReadings() -> BusReadings { shared.take() }

    /// Changes the wanted needs. Readings that were wanted before continue without a gap.
    public func want(_ wants: ConditionNeeds) { shared.want(wants) }

    /// Reports that the work before the prepared sleep is done. Without this call logind waits for InhibitDelayMaxUSec
    /// (logind.conf(5); 5 s).
    public func readyToSleep() { shared.delay.ready() }

    /// Ends the thread and the delay, without waiting for replies. May be called again.
    public func close() {
        shared.close()
        thread.join()
        shared.delay.end()
    }

    deinit { close() }

    /// The state that the thread shares with other threads.
    final class Shared: Sendable {
        let changed: WakeUp
        /// Set when the wants change, or at the end.
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

        /// Whether the thread should run. False also when the host has closed the descriptors.
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
                // The end stays set until the thread sees it.
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
