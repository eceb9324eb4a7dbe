public import BackhaulLoop
public import BackhaulModel
internal import BackhaulPlatform

/// What the system offers now, as far as something depends on it. Confined to the loop's thread.
///
/// What nothing needs is not read: no descriptor, no timer, no thread is left of it. What the kernel or a service tells
/// of is read when it does; the rest (temperatures, the charge of a battery in use, pressure from where it is felt on
/// until it is gone) once in 30 seconds, all of it together.
public final class ConditionsWatch {
    /// What is needed. Its readings come later, with `onChange`; those of what is not needed any more are forgotten at
    /// once, and without `onChange`.
    public var needs: ConditionNeeds = [] {
        didSet { if needs != oldValue { needsChanged(from: oldValue) } }
    }

    /// As the system says it, without any smoothing but that of the thermal zones' own hysteresis. Sources are those of
    /// the last reading, also where a change of a source alone was not told.
    public private(set) var current = Conditions()

    /// Everything that is needed was read, or has not answered for two seconds.
    public var isSettled: Bool { pending.isEmpty }

    /// What is needed and has not answered yet, for two seconds at the most; and for ten seconds the network, when the
    /// kernel has a new interface of which NetworkManager has yet to say what it is. `onChange` tells when it changes.
    public var pending: ConditionNeeds {
        isNetworkPending && needs.contains(.network) ? unanswered.union(.network) : unanswered
    }

    /// What the administrator says of networks, by their names, in place of what the system says. Changing it changes
    /// `current` at once, without `onChange`.
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
    /// There is no thread to read with.
    var isUnreadable = false
    var devices: (events: DeviceEvents, watch: Watch)?
    var routes: (changes: RouteWatch, watch: Watch)?
    var triggers: [PressureResource: (trigger: PressureTrigger, watch: Watch)] = [:]
    var systemBus: (bus: any SystemBus, wants: ConditionNeeds, watch: Watch)?
    /// Resources for which processes have begun to wait since the last of the regular readings.
    var felt: Set<PressureResource> = []
    /// What the bus says now is all that it has to say.
    var isBusSettled = true
    var unanswered: ConditionNeeds = []
    private(set) lazy var readingTimer = loop.timer { [unowned self] in readAgain() }
    private(set) lazy var answerTimer = loop.timer { [unowned self] in answersAreLate() }
    private(set) lazy var identityTimer = loop.timer { [unowned self] in tell {} }
    private(set) lazy var routeTimer = loop.timer { [unowned self] in read(.network) }
    private(set) lazy var pressureTimer = loop.timer { [unowned self] in readFelt() }
    var listing: ConditionsListing?

    /// How long answers are waited for.
    static let patience: Int64 = 2_000
    /// Between two readings of what nobody tells.
    static let readingInterval: Int64 = 30_000
    /// Changes of the network come in bunches: so long they gather.
    static let routeDelay: Int64 = 100
    /// The kernel's averages are renewed every two seconds: what it tells of is not in them before.
    static let pressureDelay: Int64 = 2_000

    /// `log` and `onChange` are called on the loop's thread; `onChange` when a value of `current` has changed.
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

    /// Transfers are synced: the machine may sleep, as far as this program goes.
    public func readyToSleep() { systemBus?.bus.readyToSleep() }

    /// Nothing is read, watched or told after this. Listings that are still waited for are dropped.
    public func close() {
        isClosed = true
        needs = []
        closeSources(except: [])
        readers.close()
        listing?.close()
        listing = nil
    }

    /// The rest closes itself.
    deinit { systemBus?.bus.close() }

    // MARK: - What was read

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

    /// After a reading: tells, if there is something new to tell.
    func tell(after body: () -> Void) {
        let before = current
        let awaited = pending
        body()
        refresh()
        if !current.hasSameValues(as: before) || pending != awaited { onChange() }
    }
}
