internal import BackhaulModel

/// Which network the kernel's interface is. NetworkManager says so, but moments after the kernel, and it may be
/// restarted under a connection that goes on. Neither makes it another network, of whose budget nothing is used.
/// A value; times are those of the clock that starts with the boot, in milliseconds.
struct NetworkIdentity {
    /// So long NetworkManager is waited for.
    static let patience: Int64 = 10_000

    struct Answer {
        var bus: BusReadings?
        /// NetworkManager is there and has yet to say what the new interface is.
        var isPending = false
        /// When the answer changes by itself; nil: not.
        var nextLook: Int64?
    }

    private var isRead = false
    private var interface: String?
    /// Nil: it was there already when it was first looked at.
    private var beganAt: Int64?
    /// The last that NetworkManager has said of this interface.
    private var word: BusReadings?
    /// Since when it says nothing, and whether it is there.
    private var silence: (since: Int64, isManaged: Bool)?

    mutating func take(_ kernel: NetworkState?, _ bus: BusReadings?, now: Int64) -> Answer {
        guard let kernel, see(kernel, now: now), let bus else { return Answer(bus: bus) }
        if bus.network.value != nil {
            (word, silence) = (bus, nil)
            return Answer(bus: bus)
        }
        // Who comes back is waited for anew.
        let since = silence?.isManaged == bus.isNetworkManaged ? silence?.since ?? now : now
        silence = (since, bus.isNetworkManaged)
        let isShort = now - since < NetworkIdentity.patience
        if !isShort { word?.connectivity = bus.connectivity }
        if let word, isShort || !bus.isNetworkManaged {
            return Answer(
                bus: bus.remembering(word), nextLook: isShort ? since + NetworkIdentity.patience : nil)
        }
        // It has said that the interface is none of its own.
        word = nil
        guard bus.isNetworkManaged, let beganAt, now - beganAt < NetworkIdentity.patience else {
            return Answer(bus: bus)
        }
        return Answer(bus: bus, isPending: true, nextLook: beganAt + NetworkIdentity.patience)
    }

    /// False where the kernel names no interface.
    private mutating func see(_ kernel: NetworkState, now: Int64) -> Bool {
        let name = kernel.network.value?.name
        // It could not be asked.
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
    /// What is worse counts at once.
    fileprivate func remembering(_ word: BusReadings) -> BusReadings {
        var readings = self
        readings.network = word.network
        readings.network.source += " before; \(network.source)"
        if isMetered.value != true { readings.isMetered = word.isMetered }
        if connectivity.value == nil { readings.connectivity = word.connectivity }
        return readings
    }
}
