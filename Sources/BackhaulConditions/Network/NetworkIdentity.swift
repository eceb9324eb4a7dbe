internal import BackhaulModel

/// Decides which network the kernel's interface belongs to. NetworkManager reports it later than the kernel, and may be
/// restarted while a connection continues. In neither case is it another network with an unused budget. This is a
/// value. Times are in milliseconds of the boot clock.
struct NetworkIdentity {
    /// How long to wait for NetworkManager, in milliseconds.
    static let networkManagerTimeout: Int64 = 10_000

    struct Decision {
        var bus: BusReadings?
        /// Whether NetworkManager is running and has not identified the new interface yet.
        var isPending = false
        /// When the answer changes without a new reading, or nil.
        var nextCheck: Int64?
    }

    private var isRead = false
    private var interface: String?
    /// When the interface appeared. Nil: it existed at the first reading.
    private var beganAt: Int64?
    /// NetworkManager's last readings for this interface.
    private var lastReport: BusReadings?
    /// Since when NetworkManager does not report the network, and whether it is running.
    private var missingReport: (since: Int64, isManaged: Bool)?

    mutating func take(_ kernel: NetworkState?, _ bus: BusReadings?, now: Int64) -> Decision {
        guard let kernel, updateInterface(kernel, now: now), let bus else { return Decision(bus: bus) }
        if bus.network.value != nil {
            (lastReport, missingReport) = (bus, nil)
            return Decision(bus: bus)
        }
        // A service that has come back gets the full time again.
        let since = missingReport?.isManaged == bus.isNetworkManaged ? missingReport?.since ?? now : now
        missingReport = (since, bus.isNetworkManaged)
        let isShort = now - since < NetworkIdentity.networkManagerTimeout
        if !isShort { lastReport?.connectivity = bus.connectivity }
        if let lastReport, isShort || !bus.isNetworkManaged {
            return Decision(
                bus: bus.merged(lastReport), nextCheck: isShort ? since + NetworkIdentity.networkManagerTimeout : nil)
        }
        // NetworkManager has reported that it does not manage the interface.
        lastReport = nil
        guard bus.isNetworkManaged, let beganAt, now - beganAt < NetworkIdentity.networkManagerTimeout else {
            return Decision(bus: bus)
        }
        return Decision(bus: bus, isPending: true, nextCheck: beganAt + NetworkIdentity.networkManagerTimeout)
    }

    /// Notes the kernel's interface. Returns false if the kernel names none.
    private mutating func updateInterface(_ kernel: NetworkState, now: Int64) -> Bool {
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
    fileprivate func merged(_ lastReport: BusReadings) -> BusReadings {
        var readings = self
        readings.network = lastReport.network
        readings.network.source += " before; \(network.source)"
        if isMetered.value != true { readings.isMetered = lastReport.isMetered }
        if connectivity.value == nil { readings.connectivity = lastReport.connectivity }
        return readings
    }
}
