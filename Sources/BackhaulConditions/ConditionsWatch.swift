public import BackhaulLoop
public import BackhaulModel
internal import BackhaulPlatform

/// Provides the conditions that something depends on. Confined to the loop's thread.
///
/// A condition that nothing needs is not read, and uses no descriptor, timer or thread. A condition whose changes the
/// kernel or a service reports is read on each report. The others are read together once in 30 seconds: temperatures,
/// the charge of a battery in use, and pressure from its begin until it is gone.
public final class ConditionsWatch {
    /// The conditions that are needed. Their readings follow later, with `onChange`. Readings that are not needed any
    /// more are dropped immediately, without `onChange`.
    public var needs: ConditionNeeds = [] {
        didSet { if needs != oldValue { needsChanged(from: oldValue) } }
    }

    /// The readings as the system reports them. Only the hysteresis of thermal zones smooths them. Sources are those of
    /// the last reading: a change of a source alone does not call `onChange`.
    public private(set) var current = Conditions()

    /// Whether each needed condition was read, or gave no reply for two seconds.
    public var isSettled: Bool { pending.isEmpty }

    /// The needed conditions without a reply. Each stays for two seconds at most. The network stays for up to ten
    /// seconds if the kernel has a new interface that NetworkManager has not identified yet. `onChange` reports
    /// changes.
    public var pending: ConditionNeeds {
        isNetworkPending && needs.contains(.network) ? unanswered.union(.network) : unanswered
    }

    /// Whether networks are metered, as the administrator has set by name. It overrides the system's reading. A change
    /// affects `current` immediately, without `onChange`.
    public var metered: [String: Bool] = [:] {
        didSet { if metered != oldValue { refresh() } }
    }

    let loop: Loop
    let roots: ConditionRoots
    let log: (LogEntry) -> Void
    let interval: Int64
    let startBus: SystemBusStart
    private let readSystem: ReadSystem
    private let onChange: () -> Void
    var isClosed = false

    // What was read last, of what is needed.
    var power: PowerState?
    var heat: HeatState?
    var pressure: [PressureResource: Reading<UInt8>] = [:]
    var network: NetworkState?
    var bus: BusReadings?
    var identity = NetworkIdentity()
    private var isNetworkPending = false

    // Where it is read.
    private(set) lazy var readers = SystemReaders(
        loop, roots, readSystem, heatLevels: { [unowned self] in heat?.levels ?? [:] }
    ) { [unowned self] in hasRead($0) }
    /// Whether no thread could be made for reading.
    var isUnreadable = false
    var devices: (events: DeviceEvents, watch: Watch)?
    var routes: (changes: RouteWatch, watch: Watch)?
    var triggers: [PressureResource: (trigger: PressureTrigger, watch: Watch)] = [:]
    var systemBus: (bus: any SystemBus, wants: ConditionNeeds, watch: Watch)?
    /// The resources whose pressure has begun since the last regular reading.
    var felt: Set<PressureResource> = []
    /// Whether the bus has replied to all that is wanted.
    var isBusSettled = true
    var unanswered: ConditionNeeds = []
    private(set) lazy var readingTimer = loop.timer { [unowned self] in readAgain() }
    private(set) lazy var answerTimer = loop.timer { [unowned self] in answersAreLate() }
    private(set) lazy var identityTimer = loop.timer { [unowned self] in tell {} }
    private(set) lazy var routeTimer = loop.timer { [unowned self] in read(.network) }
    private(set) lazy var pressureTimer = loop.timer { [unowned self] in readFelt() }
    var listing: ConditionsListing?

    /// How long to wait for replies, in milliseconds.
    static let patience: Int64 = 2_000
    /// The time between two readings of conditions whose changes no source reports, in milliseconds.
    static let readingInterval: Int64 = 30_000
    /// Changes of the network come in groups. They are collected for this many milliseconds before one reading.
    static let routeDelay: Int64 = 100
    /// The kernel updates its averages every two seconds. A reported pressure is in them only after that time.
    static let pressureDelay: Int64 = 2_000

    /// Calls `log` and `onChange` on the loop's thread, `onChange` when a value of `current` has changed.
    public convenience init(
        loop: Loop, roots: ConditionRoots, log: @escaping (LogEntry) -> Void, onChange: @escaping () -> Void
    ) {
        self.init(
            loop: loop, roots: roots, log: log, interval: ConditionsWatch.readingInterval,
            startBus: { BusWatch.start(address: $0, wants: $1) }, onChange: onChange)
    }

    init(
        loop: Loop, roots: ConditionRoots, log: @escaping (LogEntry) -> Void, interval: Int64,
        startBus: @escaping SystemBusStart, readSystem: @escaping ReadSystem = SystemReadings.read(_:in:),
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

    /// Reports that running transfers are synced, so that the machine may sleep.
    public func readyToSleep() { systemBus?.bus.readyToSleep() }

    /// Stops all reading and all calls of `onChange`. Waiting listings are dropped.
    public func close() {
        isClosed = true
        needs = []
        closeSources(except: [])
        readers.close()
        listing?.close()
        listing = nil
    }

    /// The other sources close on release.
    deinit { systemBus?.bus.close() }

    // MARK: - Readings

    func refresh() {
        let known = identity.take(network, bus, now: loop.now)
        isNetworkPending = known.isPending
        if let look = known.nextLook, !isClosed {
            identityTimer.start(milliseconds: max(1, look - loop.now))
        } else {
            identityTimer.stop()
        }
        let conditions = Conditions.combined(
            power: power, heat: heat, pressure: pressure, network: network, bus: known.bus, metered: metered)
        current = Conditions()
        current.take(conditions, needs)
    }

    /// Runs `body`, which stores readings, and calls `onChange` if a value has changed.
    func tell(after body: () -> Void) {
        let before = current
        let awaited = pending
        body()
        refresh()
        if !current.hasSameValues(as: before) || pending != awaited { onChange() }
    }
}
