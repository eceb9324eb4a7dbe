public import BackhaulModel
internal import BackhaulBus
internal import BackhaulPlatform

/// Watches NetworkManager and logind on the system bus, and delays system sleep until the bytes of running transfers
/// are on the disk.
///
/// The watch's own thread calls the services at the start and after changes. Otherwise the thread waits for signals and
/// for `close`. If there is no bus, the thread tries to connect again after pauses that grow to 30 s. If the thread can
/// watch the directory of the bus's socket, it makes only a few such attempts. Afterwards it tries again each time this
/// directory changes. The thread's calls start no service, and a bus that hangs delays no other thread. Any thread may
/// use this object.
public final class BusWatch: Sendable {
    /// How long a reply may take before it counts as missing, in milliseconds.
    static let replyTimeoutMilliseconds: Int64 = 2_000
    /// The seconds between attempts to reach a bus.
    static let pauses: [Int64] = [1, 2, 4, 8, 16, 30]

    private let shared: Shared
    private let thread: Thread

    /// Returns nil if libsystemd is missing, or if the process cannot get a further thread or descriptor.
    /// - address: the bus's address (D-Bus specification, "Server Addresses"). If it is nil, the address of the
    ///   system's bus is used: DBUS_SYSTEM_BUS_ADDRESS or the default.
    /// - subscriptions: `.network`, `.sleep` or both.
    public static func start(address: String?, subscriptions: ConditionSet) -> BusWatch? {
        guard BusConnection.isLibraryPresent, let shared = try? Shared(subscriptions) else { return nil }
        let place = address.map(BusAddress.local(_:)) ?? BusAddress.system
        guard
            let thread = try? Thread(
                name: "backhaul-bus",
                body: {
                    BusClient(address: place, shared: shared).run()
                })
        else { return nil }
        return BusWatch(shared, thread)
    }

    private init(_ shared: Shared, _ thread: Thread) {
        self.shared = shared
        self.thread = thread
    }

    /// A descriptor that is readable while there are readings that were not taken. The first readings also make the
    /// descriptor readable.
    public var number: Int32 { shared.changed.number }

    /// The newest readings.
    public func takeReadings() -> BusReadings { shared.take() }

    /// Sets the conditions to watch. A condition that was watched before keeps its readings.
    public func subscribe(_ subscriptions: ConditionSet) { shared.subscribe(subscriptions) }

    /// Ends the delay of the sleep that logind prepares, because the work before the sleep is done. Without this call
    /// logind waits for InhibitDelayMaxUSec (logind.conf(5); 5 s by default).
    public func readyToSleep() { shared.inhibitor.ready() }

    /// Ends the thread and the delay of sleep, without waiting for replies. It may be called more than once.
    public func close() {
        shared.close()
        thread.join()
        shared.inhibitor.end()
    }

    deinit { close() }

    /// The state that the thread shares with other threads.
    final class Shared: Sendable {
        let changed: EventFD
        /// The event is set when the subscriptions change, and by `close`.
        let commands: EventFD
        let inhibitor = SleepInhibitor()

        private struct State {
            var subscriptions: ConditionSet
            var readings = BusReadings()
            var isClosed = false
        }

        private let state: Lock<State>

        init(_ subscriptions: ConditionSet) throws(SystemError) {
            changed = try EventFD()
            commands = try EventFD()
            state = Lock(State(subscriptions: subscriptions))
        }

        /// Whether the thread should run. False after `close`.
        var isOpen: Bool { state.withLock { !$0.isClosed } }

        func close() {
            state.withLock { $0.isClosed = true }
            commands.set()
        }

        func subscribe(_ subscriptions: ConditionSet) {
            state.withLock { $0.subscriptions = subscriptions }
            commands.set()
        }

        func takeSubscriptions() -> ConditionSet {
            state.withLock { state in
                // After `close` the event stays set, so that the thread cannot miss it.
                if !state.isClosed { commands.clear() }
                return state.subscriptions
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
