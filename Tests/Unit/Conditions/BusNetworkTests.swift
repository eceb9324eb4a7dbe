import BackhaulModel
import Glibc
import Testing

@testable import BackhaulConditions

@Suite(.serialized) struct BusNetworkTests {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    private func watch() throws -> BusWatch {
        try #require(BusWatch.start(address: bus.address, subscriptions: .network))
    }

    @Test("the network's name, the connectivity, and whether the network is metered are read from NetworkManager")
    func first() throws {
        try bus.call("network", "connect", "Home", "802-11-wireless", "2")
        let watch = try watch()
        let readings = try watch.settled()
        #expect(readings.network == Reading(Network(name: "Home", kind: .wifi), source: "NetworkManager"))
        #expect(readings.isMetered == Reading(false, source: "NetworkManager"))
        #expect(readings.connectivity == Reading(.full, source: "NetworkManager"))
        #expect(readings.isPreparingForSleep == Reading(source: "not read"))
    }

    @Test("each value of NetworkManager's property Metered is reported as known, guessed or unknown")
    func metering() throws {
        try bus.call("network", "connect", "Home")
        let watch = try watch()
        #expect(try watch.settled().isMetered == Reading(false, source: "NetworkManager, which guesses"))
        let cases: [(String, Reading<Bool>)] = [
            ("1", Reading(true, source: "NetworkManager")), ("2", Reading(false, source: "NetworkManager")),
            ("3", Reading(true, source: "NetworkManager, which guesses")),
            ("4", Reading(false, source: "NetworkManager, which guesses")),
            ("0", Reading(source: "NetworkManager does not know")),
            ("77", Reading(source: "NetworkManager's Metered is none that is documented")),
        ]
        for (metered, reading) in cases {
            try bus.call("network", "set_metered", metered)
            try watch.until("metered \(metered)") { $0.isMetered == reading }
        }
    }

    @Test("if the network changes, all readings are replaced together, and a new connection name is reported")
    func changes() throws {
        try bus.call("network", "connect", "Home", "802-11-wireless", "2")
        let watch = try watch()
        _ = try watch.settled()
        let path = try bus.call("network", "connect", "Phone", "bluetooth", "3")
        var seen: [String?] = []
        try watch.until("the change") {
            seen.append($0.network.value?.name)
            return $0.network.value == Network(name: "Phone", kind: .bluetooth) && $0.isMetered.value == true
        }
        #expect(!seen.contains(nil))
        try bus.call("network", "rename", path, "Telefon")
        try watch.until("the new name") { $0.network.value?.name == "Telefon" }
        try bus.call("network", "set_connectivity", "2")
        try watch.until("the portal") { $0.connectivity.value == .portal }
        try bus.call("network", "disconnect")
        let readings = try watch.until("the end") { $0.connectivity.value == ConnectivityState.none }
        #expect(readings.network == Reading(source: "NetworkManager has no connection with the default route"))
    }

    @Test("the network is unknown while NetworkManager restarts, and is read again after the restart")
    func restarts() throws {
        try bus.call("network", "connect", "Home")
        let watch = try watch()
        _ = try watch.settled()
        try bus.call("network", "stop")
        let gone = try watch.until("its end") { $0.network.value == nil }
        #expect(gone.network.source == "NetworkManager is not on the bus")
        #expect(gone.isMetered == Reading(source: "NetworkManager is not on the bus"))
        try bus.call("network", "start")
        try bus.call("network", "connect", "Cellular", "gsm", "1")
        let back = try watch.until("its return") { $0.network.value?.name == "Cellular" && $0.isMetered.value == true }
        #expect(back.network.value?.kind == .cellular)
    }

    @Test("if NetworkManager owns its bus name before its objects exist, the objects are read later")
    func late() throws {
        try bus.call("network", "hide")
        let watch = try watch()
        #expect(try watch.settled().isMetered.source.hasPrefix("NetworkManager refuses: "))
        try bus.call("network", "show")
        try watch.until("its objects") { $0.isMetered.value == true }
    }

    @Test("without NetworkManager, the network is unknown, and a later start of NetworkManager is noticed")
    func absent() throws {
        let watch = try watch()
        #expect(try watch.settled().network.source == "NetworkManager is not on the bus")
        try bus.call("network", "connect", "Home")
        try watch.until("NetworkManager") { $0.network.value?.name == "Home" }
    }

    @Test("if NetworkManager hangs, the network is unknown until NetworkManager replies")
    func hangs() throws {
        try bus.call("network", "connect", "Home")
        try bus.call("network", "hang")
        let watch = try watch()
        #expect(try watch.settled().network == Reading(source: "NetworkManager does not reply"))
        try bus.call("network", "continue_process")
        try watch.until("its reply") { $0.network.value?.name == "Home" }
    }

    @Test("the watch connects again to a message bus that has restarted")
    func busRestarts() throws {
        try bus.call("network", "connect", "Home")
        let watch = try watch()
        _ = try watch.settled()
        try bus.call("bus", "stop")
        try watch.until("the end of the bus") { $0.network.value == nil }
        try bus.call("bus", "start")
        try bus.call("network", "start")
        try bus.call("network", "connect", "Again")
        try watch.until("the return of the bus") { $0.network.value?.name == "Again" }
    }

    @Test("bus signals are ignored if their sender does not own NetworkManager's bus name")
    func foreign() throws {
        try bus.call("network", "connect", "Home")
        let watch = try watch()
        _ = try watch.settled()
        try bus.call("bus", "send_false_signals")
        try bus.call("network", "set_metered", "1")
        let readings = try watch.until("the true one") { $0.isMetered.value == true }
        #expect(readings.network.value?.name == "Home")
    }
}
