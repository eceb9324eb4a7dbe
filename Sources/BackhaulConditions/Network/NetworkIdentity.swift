internal import BackhaulModel

/// Decides which network the kernel's interface belongs to. NetworkManager reports it later than the kernel, and may be
/// restarted while a connection continues. In neither case is it another network with an unused budget. This is a
/// value. Times are in milliseconds of the boot clock.
struct NetworkIdentity {
    /// How long to wait for NetworkManager, in milliseconds.
    static let patience: Int64 = 10_000

    struct Answer {
        var bus: BusReadings?
        /// Whether NetworkManager is running and has not identified the new interface yet.
        var isPending = false
        /// When the answer changes without a new reading, or nil.
        var nextLook: Int64?
    }

    private var isRead = false
    private var interface: String?
    /// When the interface appeared. Nil: it existed at the first reading.
    private var beganAt: Int64?
    /// NetworkManager's last readings for this interface.
    private var word: BusReadings?
    /// Since when NetworkManager does not report the network, and whether it is running.
    private var silence: (since: Int64, isManaged: Bool)?

    mutating func take(_ kernel: NetworkState?, _ bus: BusReadings?, now: Int64) -> Answer {
        guard let kernel, see(kernel, now: now), let bus else { return Answer(bus: bus) }
        if bus.network.value != nil {
            (word, silence) = (bus, nil)
            return Answer(bus: bus)
        }
        // A service that has come back gets the full time again.
        let since = silence?.isManaged == bus.isNetworkManaged ? silence?.since ?? now : now
        silence = (since, bus.isNetworkManaged)
        let isShort = now - since < NetworkIdentity.patience
        if !isShort { word?.connectivity = bus.connectivity }
        if let word, isShort || !bus.isNetworkManaged {
            return Answer(
                bus: bus.remembering(word), nextLook: isShort ? since + NetworkIdentity.patience : nil)
        }
        // NetworkManager has reported that it does not manage the interface.
        word = nil
        guard bus.isNetworkManaged, let beganAt, now - beganAt < NetworkIdentity.patience else {
            return Answer(bus: bus)
        }
        return Answer(bus: bus, isPending: true, nextLook: beganAt + NetworkIdentity.patience)
    }

    /// Notes the kernel's interface. Returns false if the kernel names none.
    private mutating func see(_ kernel: NetworkState, now: Int64) -> Bool {
        let name = kernel.network.value?.name
        // The kernel could not be asked.
        if name == nil, kernel.connectivity.value == nil { return false }
        if !isRead || name != interface { self = NetworkIdentity(interface: name, beganAt: isRead ? now : nil) }
        return name != nil
    }

    init() {}

    private init(interface: String?, beganAt: Int64?) {
        isRead = true
        self.interface = interface
        self.beganAt = beganAt
    }
}

extension BusReadings {
    /// Completes the readings by earlier ones. A worse reading replaces the earlier one at once.
    fileprivate func remembering(_ word: BusReadings) -> BusReadings {
        var readings = self
        readings.network = word.network
        readings.network.source += " before; \(network.source)"
        if isMetered.value != true { readings.isMetered = word.isMetered }
        if connectivity.value == nil { readings.connectivity = word.connectivity }
        return readings
    }
}
