internal import BackhaulModel

/// Decides to which network the interface of the default route belongs. NetworkManager reports the network of a new
/// interface later than the kernel does. If NetworkManager is running, the decision is pending until this report, for
/// at most `networkManagerTimeout`. NetworkManager may also be restarted while a connection continues. Then the
/// interface still belongs to the network of the last report, so the limit on bytes for this network (its budget) still
/// applies. This type performs no I/O. Times are in milliseconds of the boot clock.
struct NetworkIdentity {
    /// How long to wait for NetworkManager, in milliseconds.
    static let networkManagerTimeout: Int64 = 10_000

    struct Decision {
        var bus: BusReadings?
        /// Whether NetworkManager is running and has not reported a network for the new interface yet.
        var isPending = false
        /// The time at which the decision must be made again, even if there is no new reading; nil if the decision does
        /// not depend on time.
        var nextCheck: Int64?
    }

    private var isRead = false
    private var interface: String?
    /// When the interface appeared; nil if the interface existed at the first reading.
    private var beganAt: Int64?
    /// NetworkManager's last readings for this interface.
    private var lastReport: BusReadings?
    /// Since when NetworkManager has reported no network, and whether NetworkManager is running. Nil if NetworkManager
    /// reports a network.
    private var missingReport: (since: Int64, isManaged: Bool)?

    mutating func take(_ kernel: NetworkState?, _ bus: BusReadings?, now: Int64) -> Decision {
        guard let kernel, updateInterface(kernel, now: now), let bus else { return Decision(bus: bus) }
        if bus.network.value != nil {
            (lastReport, missingReport) = (bus, nil)
            return Decision(bus: bus)
        }
        // The time-out begins again when NetworkManager has started or ended.
        let since = missingReport?.isManaged == bus.isNetworkManaged ? missingReport?.since ?? now : now
        missingReport = (since, bus.isNetworkManaged)
        let isShort = now - since < NetworkIdentity.networkManagerTimeout
        if !isShort { lastReport?.connectivity = bus.connectivity }
        if let lastReport, isShort || !bus.isNetworkManaged {
            return Decision(
                bus: bus.merged(lastReport), nextCheck: isShort ? since + NetworkIdentity.networkManagerTimeout : nil)
        }
        // No earlier report applies: there is none, or NetworkManager is running and has not repeated the report in
        // time.
        lastReport = nil
        guard bus.isNetworkManaged, let beganAt, now - beganAt < NetworkIdentity.networkManagerTimeout else {
            return Decision(bus: bus)
        }
        return Decision(bus: bus, isPending: true, nextCheck: beganAt + NetworkIdentity.networkManagerTimeout)
    }

    /// Stores the interface that the kernel names. Returns false if the kernel names no interface.
    private mutating func updateInterface(_ kernel: NetworkState, now: Int64) -> Bool {
        let name = kernel.network.value?.name
        // If the kernel's default route could not be read, the last known interface is kept.
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
    /// Returns the last report of NetworkManager, updated with these new readings. A new reading replaces the reported
    /// one in two cases: the network is now metered, or the connectivity is now known.
    fileprivate func merged(_ lastReport: BusReadings) -> BusReadings {
        var readings = self
        readings.network = lastReport.network
        readings.network.source += " before; \(network.source)"
        if isMetered.value != true { readings.isMetered = lastReport.isMetered }
        if connectivity.value == nil { readings.connectivity = lastReport.connectivity }
        return readings
    }
}
