import BackhaulBus
import BackhaulModel
import Testing

@testable import BackhaulConditions

/// Tests without a message bus. They check how replies of NetworkManager and logind become readings. A *view* is an
/// object that has the last replies and computes the readings.
@Suite struct BusViewTests {
    private static let whole: [String: BusValue] = [
        "Metered": .uint32(2), "Connectivity": .uint32(4), "PrimaryConnection": .path("/1"),
        "PrimaryConnectionType": .string("gsm"),
    ]

    /// Returns a view after two replies of NetworkManager. The first reply has the properties of NetworkManager. The
    /// second reply has the properties of the primary connection.
    private func view(
        _ manager: [String: BusValue],
        _ connection: BusReply = .properties(["Id": .string("A"), "Type": .string("gsm")])
    ) -> NetworkManagerView {
        var view = NetworkManagerView()
        #expect(view.update(.present(owner: ":1.1")) == [.properties(.networkManager)])
        for case .connection(let path) in view.update(manager: .properties(manager)) {
            view.update(connection: path, connection)
        }
        return view
    }

    @Test(
        "a missing or invalid property of NetworkManager is unknown, and the other properties are used",
        arguments: ["Metered", "Connectivity", "PrimaryConnection"])
    func odd(_ name: String) {
        for value in [nil, .string("x"), .uint32(.max), .bool(true)] as [BusValue?] {
            var properties = BusViewTests.whole
            properties[name] = value
            let readings = view(properties).readings
            let known = [
                "Metered": readings.isMetered.value != nil, "Connectivity": readings.connectivity.value != nil,
                "PrimaryConnection": readings.network.value != nil,
            ]
            #expect(known.filter { !$0.value }.map(\.key) == [name])
            let source = [
                "Metered": readings.isMetered.source, "Connectivity": readings.connectivity.source,
                "PrimaryConnection": readings.network.source,
            ][name]
            #expect(
                source
                    == (value == nil
                        ? "NetworkManager has no \(name)" : "NetworkManager's \(name) is none that is documented"))
            #expect(readings.isSettled)
        }
    }

    @Test("the network is unknown if its connection has ended, has no name, or has a name above 255 bytes")
    func names() {
        let replies: [BusReply] = [
            .properties([:]), .properties(["Id": .string("")]), .properties(["Id": .uint32(1)]),
            .properties(["Id": .string(String(repeating: "x", count: 256))]), .malformed, .timedOut,
            .refused(name: "org.freedesktop.DBus.Error.UnknownObject", sentence: "It is gone."),
        ]
        for reply in replies {
            let readings = view(BusViewTests.whole, reply).readings
            #expect(readings.network.value == nil)
            #expect(readings.network.source.hasPrefix("NetworkManager"))
            #expect(readings.isMetered.value == false)
        }
        let long = String(repeating: "x", count: 255)
        let readings = view(BusViewTests.whole, .properties(["Id": .string(long)])).readings
        #expect(readings.network.value == Network(name: long, kind: .cellular), "from PrimaryConnectionType")
    }

    @Test(
        "each connection type of NetworkManager is converted to a kind of network",
        arguments: [
            ("802-3-ethernet", .ethernet), ("bond", .ethernet), ("802-11-wireless", .wifi), ("gsm", .cellular),
            ("cdma", .cellular), ("bluetooth", .bluetooth), ("vpn", .tunnel), ("wireguard", .tunnel), ("tun", .tunnel),
            ("dummy", .other), ("", .other),
        ] as [(String, NetworkKinds)])
    func kinds(type: String, kind: NetworkKinds) {
        #expect(NetworkKinds(connectionType: type) == kind)
    }

    @Test("new readings of NetworkManager replace the old readings only when all replies have arrived")
    func whole() {
        var view = view(BusViewTests.whole)
        var other = BusViewTests.whole
        other["PrimaryConnection"] = .path("/2")
        other["Metered"] = .uint32(1)
        let before = view.readings
        #expect(view.update(manager: .properties(other)) == [.connection("/2")])
        #expect(view.readings == before)
        view.update(connection: "/1", .properties(["Id": .string("late"), "Type": .string("gsm")]))
        #expect(view.readings == before)
        view.update(connection: "/2", .properties(["Id": .string("B"), "Type": .string("bluetooth")]))
        #expect(view.readings.network.value == Network(name: "B", kind: .bluetooth))
        #expect(view.readings.isMetered.value == true)
    }

    @Test("a changed bus object is read again only if the view has read it before")
    func elsewhere() {
        let view = view(BusViewTests.whole)
        #expect(view.changed(at: "/1") == [.connection("/1")])
        #expect(view.changed(at: "/org/freedesktop/NetworkManager") == [.properties(.networkManager)])
        #expect(view.changed(at: "/2").isEmpty)
        #expect(view.changed(at: nil).isEmpty)
    }

    @Test("if another process takes NetworkManager's bus name, old readings are dropped and new readings are requested")
    func replaced() {
        var view = view(BusViewTests.whole)
        #expect(view.update(.present(owner: ":1.1")).isEmpty)
        #expect(view.update(.present(owner: ":1.2")) == [.properties(.networkManager)])
        #expect(view.readings.network.value == nil)
        #expect(!view.readings.isSettled)
        #expect(view.update(.absent(why: "gone")).isEmpty)
        #expect(view.readings.isMetered == Reading(source: "gone"))
        #expect(view.readings.isSettled)
    }

    @Test("if logind refuses to delay sleep, sleep is still reported, and the reading names the refusal")
    func refusal() {
        var view = LogindView()
        #expect(view.update(.present(owner: ":1.1")) == [.properties(.logind)])
        #expect(view.update(properties: .properties(["PreparingForSleep": .bool(false)])) == [.inhibit])
        view.update(inhibit: .refused(name: "org.freedesktop.DBus.Error.AccessDenied", sentence: "Permission denied"))
        #expect(
            view.reading.0
                == Reading(
                    false, source: "logind, which does not delay sleep: it refuses: Permission denied"))
        #expect(view.prepare(true, isDelayed: false).isEmpty)
        #expect(view.reading.0.value == true)
        #expect(view.prepare(false, isDelayed: false) == [.inhibit])
    }

    @Test("without a valid reply of logind, the condition `sleep` is unknown until logind announces a sleep")
    func silentLogind() {
        for reply in [.properties([:]), .properties(["PreparingForSleep": .uint32(1)]), .timedOut, .malformed]
            as [BusReply]
        {
            var view = LogindView()
            _ = view.update(.present(owner: ":1.1"))
            #expect(!view.reading.isSettled)
            #expect(view.update(properties: reply).isEmpty)
            #expect(view.reading.0.value == nil)
            #expect(view.reading.isSettled)
            _ = view.prepare(true, isDelayed: false)
            #expect(view.reading.0 == Reading(true, source: "logind"))
        }
    }
}
