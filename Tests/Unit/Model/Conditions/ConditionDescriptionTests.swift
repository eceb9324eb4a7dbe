import BackhaulModel
import Testing

@Suite("Texts of conditions in listings")
struct ConditionDescriptionTests {
    private func texts(_ conditions: Conditions, _ bytesPerSecond: UInt64? = nil) -> [ConditionKind: String] {
        let infos = ConditionDescriptions.infos(conditions, bytesPerSecond: bytesPerSecond, since: [:], now: 0)
        return Dictionary(uniqueKeysWithValues: infos.map { ($0.kind, $0.text) })
    }

    private func network(_ conditions: Conditions) -> ConditionInfo? {
        ConditionDescriptions.infos(conditions, bytesPerSecond: nil, since: [:], now: 0).first { $0.kind == .network }
    }

    @Test("a listing has an entry for each kind of condition, and unknown conditions have a source")
    func unknown() {
        let infos = ConditionDescriptions.infos(Conditions(), bytesPerSecond: nil, since: [.battery: 5], now: 9)
        #expect(infos.map(\.kind) == ConditionKind.allCases)
        #expect(infos.allSatisfy { !$0.isKnown && $0.value == 0 && !$0.source.isEmpty })
        #expect(infos.dropLast().allSatisfy { $0.text == "cannot be read" })
        #expect(infos.last?.text == "nothing to measure")
        #expect(infos.count { $0.sinceMilliseconds == 5 } == 1)
    }

    @Test("known conditions are listed with a short text, a number and their source")
    func known() {
        var conditions = Conditions.onTheRoad
        conditions.thermalState = Reading(.serious, source: "x86_pkg_temp")
        conditions.connectivity = Reading(.portal)
        conditions.isPreparingForSleep = Reading(false)
        conditions.ioPressurePercent = Reading(12)
        let listed = texts(conditions, 3_100)
        #expect(listed[.externalPower] == "on battery")
        #expect(listed[.battery] == "63 %")
        #expect(listed[.thermalState] == "serious")
        #expect(listed[.network] == "Hotspot (Wi-Fi)")
        #expect(listed[.metered] == "metered")
        #expect(listed[.connectivity] == "a portal asks for a login")
        #expect(listed[.sleep] == "awake")
        #expect(listed[.ioPressure] == "12 % of the last seconds")
        #expect(listed[.throughput] == "3.1 kB/s")
        let network = network(conditions)
        #expect(network?.name == "Hotspot")
        #expect(network?.value == Int64(NetworkKinds.wifi.rawValue))
        #expect(network?.source == "NetworkManager")
    }

    @Test("the absence of a network is listed as a known condition")
    func noNetwork() {
        var conditions = Conditions()
        conditions.connectivity = Reading(ConnectivityState.none, source: "routes")
        let info = network(conditions)
        #expect(info?.isKnown == true && info?.value == 0 && info?.text == "no default route")
    }

    @Test("during its settling period, an improved condition is listed with the old value and the period's length")
    func settling() {
        var conditions = Conditions.onTheRoad
        conditions.externalPower.settling = SettlingPeriod(durationMilliseconds: 10_000, endsAt: 0)
        #expect(texts(conditions)[.externalPower] == "on battery until better has lasted 10 s")
    }

    @Test("a listing shows when the value of each condition last changed, and a new source does not count as a change")
    func since() {
        var conditions = Conditions.onTheRoad
        let first = ConditionDescriptions.since([:], from: nil, to: conditions, now: 1)
        conditions.isMetered = Reading(true, source: "configured")
        conditions.externalPower = Reading(true)
        conditions.network = Reading(Network(name: "Home", kind: .wifi))
        let second = ConditionDescriptions.since(first, from: .onTheRoad, to: conditions, now: 2)
        #expect(second[.metered] == 1)
        #expect(second[.externalPower] == 2)
        #expect(second[.network] == 2)
        #expect(second[.battery] == 1)
    }
}
