public import BackhaulLoop
public import BackhaulModel
internal import BackhaulPlatform

/// Provides the readings of the conditions in `needs`. The watch is used only on the thread of the event loop.
///
/// A condition that is not in `needs` is not read, and uses no descriptor, timer or thread. If the kernel or a service
/// reports the changes of a condition, the condition is read after each report. The other conditions are temperatures
/// and the charge of a battery in use. They are read together every 30 seconds. When the kernel reports that pressure
/// has begun, the pressure is read together with these conditions until it has ended.
public final class ConditionsWatch {
    /// The conditions to read. The readings of an added condition follow later, with a call of `onChange`. The readings
    /// of a removed condition are dropped immediately, without a call of `onChange`.
    public var needs: ConditionSet = [] {
        didSet { if needs != oldValue { needsChanged(from: oldValue) } }
    }

    /// The readings as the system reports them. Only thermal states are smoothed: a thermal zone leaves a state only at
    /// a temperature that is clearly lower than the temperature at which the zone reached the state. If the source of a
    /// reading (a text for users) changes but the value does not, `current` has the new source, and `onChange` is not
    /// called.
    public private(set) var current = Conditions()

    /// Whether no needed condition is `pending`.
    public var isSettled: Bool { pending.isEmpty }

    /// The needed conditions that have no reading yet. A condition is pending for two seconds at most. Only the network
    /// may be pending longer: up to ten seconds, while NetworkManager has not identified a new interface of the kernel.
    /// When this set changes, `onChange` is called.
    public var pending: ConditionSet {
        isNetworkPending && needs.contains(.network) ? pendingNeeds.union(.network) : pendingNeeds
    }

    /// The administrator's settings: for the name of a network, whether the network is metered (its data may cost
    /// money). A setting overrides the system's reading. A change affects `current` immediately, without a call of
    /// `onChange`.
    public var metered: [String: Bool] = [:] {
        didSet { if metered != oldValue { refresh() } }
    }

    let loop: Loop
    let roots: ConditionRoots
    let log: (LogEntry) -> Void
    let interval: Int64
    let startBus: SystemBusFactory
    private let readSystem: ReadSystem
    private let onChange: () -> Void
    var isClosed = false

    // The last readings of the needed conditions.
    var power: PowerState?
    var heat: HeatState?
    var pressure: [PressureResource: Reading<UInt8>] = [:]
    var network: NetworkState?
    var bus: BusReadings?
    var identity = NetworkIdentity()
    private var isNetworkPending = false

    // The sources of the readings.
    private(set) lazy var readers = SystemReaders(
        loop, roots, readSystem, heatLevels: { [unowned self] in heat?.levels ?? [:] }
    ) { [unowned self] in hasRead($0) }
    /// Whether the last attempt to read failed. It fails if no thread can be made.
    var isUnreadable = false
    var devices: (events: DeviceEvents, watch: Watch)?
    var routes: (changes: NetworkChanges, watch: Watch)?
    var triggers: [PressureResource: (trigger: PressureTrigger, watch: Watch)] = [:]
    var systemBus: (bus: any SystemBus, subscriptions: ConditionSet, watch: Watch)?
    /// The resources, such as memory, whose pressure has begun since conditions were last read together (every 30
    /// seconds).
    var triggeredResources: Set<PressureResource> = []
    /// Whether the bus has replied to all subscriptions.
    var isBusSettled = true
    var pendingNeeds: ConditionSet = []
    private(set) lazy var readingTimer = loop.timer { [unowned self] in readAgain() }
    private(set) lazy var timeoutTimer = loop.timer { [unowned self] in readingsTimedOut() }
    private(set) lazy var identityTimer = loop.timer { [unowned self] in update {} }
    private(set) lazy var routeTimer = loop.timer { [unowned self] in read(.network) }
    private(set) lazy var pressureTimer = loop.timer { [unowned self] in readTriggered() }
    var listing: ConditionsListing?

    /// How long to wait for the first reading of a condition, in milliseconds.
    static let replyTimeout: Int64 = 2_000
    /// The time between two readings of conditions whose changes no source reports, in milliseconds.
    static let readingInterval: Int64 = 30_000
    /// How long changes of the network are collected before one reading, in milliseconds. Several changes often come
    /// together.
    static let routeDelay: Int64 = 100
    /// The delay in milliseconds from the kernel's report of a pressure to the reading of this pressure. An earlier
    /// reading may not show the pressure, because the kernel updates the averages only every two seconds.
    static let pressureDelay: Int64 = 2_000

    /// `log` and `onChange` are called on the thread of the event loop. `onChange` is called when a value of `current`
    /// or the set `pending` has changed.
    public convenience init(
        loop: Loop, roots: ConditionRoots, log: @escaping (LogEntry) -> Void, onChange: @escaping () -> Void
    ) {
        self.init(
            loop: loop, roots: roots, log: log, interval: ConditionsWatch.readingInterval,
            startBus: { BusWatch.start(address: $0, subscriptions: $1) }, onChange: onChange)
    }

    init(
        loop: Loop, roots: ConditionRoots, log: @escaping (LogEntry) -> Void, interval: Int64,
        startBus: @escaping SystemBusFactory, readSystem: @escaping ReadSystem = SystemReadings.read(_:in:),
        onChange: @escaping () -> Void
    ) {
        self.loop = loop
        self.roots = roots
        self.log = log
        self.interval = interval
        self.startBus = startBus
        self.readSystem = readSystem
        self.onChange = onChange
    }

    /// Ends the delay of the machine's coming sleep. It is called when the bytes of the transfers are synced, or when
    /// the caller cannot wait longer.
    public func readyToSleep() { systemBus?.bus.readyToSleep() }

    /// Stops all reading and all calls of `onChange`. An unfinished `readAll` never calls its `then`.
    public func close() {
        isClosed = true
        needs = []
        closeSources(except: [])
        readers.close()
        listing?.close()
        listing = nil
    }

    /// Only the bus has to be closed here. The other sources close when they are released.
    deinit { systemBus?.bus.close() }

    // MARK: - Readings

    func refresh() {
        let known = identity.take(network, bus, now: loop.now)
        isNetworkPending = known.isPending
        if let check = known.nextCheck, !isClosed {
            identityTimer.start(milliseconds: max(1, check - loop.now))
        } else {
            identityTimer.stop()
        }
        let conditions = Conditions.combined(
            power: power, heat: heat, pressure: pressure, network: network, bus: known.bus, metered: metered)
        current = Conditions()
        current.take(conditions, needs)
    }

    /// Runs `body`, which stores readings, and calls `onChange` if a value has changed.
    func update(after body: () -> Void) {
        let before = current
        let awaited = pending
        body()
        refresh()
        if !current.hasSameValues(as: before) || pending != awaited { onChange() }
    }
}
