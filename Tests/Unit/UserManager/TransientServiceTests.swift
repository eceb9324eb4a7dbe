import BackhaulBus
import Testing

@testable import BackhaulUserManager

@Suite struct TransientServiceTests {
    private let service = TransientService(
        name: "a.service", description: "A service", program: "/usr/bin/a", arguments: ["$HOME", "100%"])

    private func properties(_ service: TransientService, version: Int = 252) -> [String: BusValue] {
        Dictionary(service.properties(version: version)) { $1 }
    }

    @Test("what a service needs at least is its program, and a name that is free again when it has ended")
    func least() {
        let properties = properties(service)
        #expect(Set(properties.keys) == ["Description", "ExecStart", "KillMode", "Type", "CollectMode", "AddRef"])
        #expect(properties["Type"] == .string("exec"))
        #expect(properties["CollectMode"] == .string("inactive-or-failed"))
        #expect(properties["KillMode"] == .string("control-group"))
    }

    @Test("a dollar in an argument stays one")
    func dollar() {
        #expect(
            properties(service)["ExecStart"]
                == .array(
                    "(sasb)",
                    [.structure([.string("/usr/bin/a"), .strings(["/usr/bin/a", "$$HOME", "100%"]), .bool(false)])]))
        #expect(properties(service)["ExecStart"]?.signature == "a(sasb)")
    }

    @Test(
        "an older manager is asked for what it knows only",
        arguments: [(0, 0), (219, 0), (236, 1), (239, 1), (240, 2), (249, 2), (250, 3), (257, 3)])
    func versions(version: Int, newer: Int) {
        var service = service
        service.livesAsLongAsAnyProcess = true
        let known = Set(properties(service, version: version).keys)
        #expect(known.intersection(["Type", "CollectMode", "ExitType"]).count == newer)
    }

    @Test("a restart is counted in the manager's unit, microseconds, and limited")
    func restart() {
        var service = service
        service.restart = .init(
            delayMilliseconds: 1_500, attempts: 4, withinMilliseconds: UInt64.max, exitCodesWithout: [6])
        let properties = properties(service)
        #expect(properties["Restart"] == .string("on-failure"))
        #expect(properties["RestartUSec"] == .uint64(1_500_000))
        #expect(properties["StartLimitIntervalUSec"] == .uint64(UInt64.max))
        #expect(properties["StartLimitBurst"] == .uint32(4))
        #expect(properties["RestartPreventExitStatus"]?.signature == "(aiai)")
    }

    @Test("environment, directory, slice and time to stop are as given")
    func surroundings() {
        var service = service
        service.environment = ["B": "2", "A": "a b"]
        service.workingDirectory = "/srv"
        service.slice = "background.slice"
        service.stopMilliseconds = 10_000
        service.stopping = .firstProcess
        let properties = properties(service)
        #expect(properties["Environment"] == .strings(["A=a b", "B=2"]))
        #expect(properties["WorkingDirectory"] == .string("/srv"))
        #expect(properties["Slice"] == .string("background.slice"))
        #expect(properties["TimeoutStopUSec"] == .uint64(10_000_000))
        #expect(properties["KillMode"] == .string("process"))
    }

    @Test("a store's unit has one name, another store's another")
    func unitName() {
        let name = DaemonService.name(store: "/home/me/.local/state/backhaul")
        #expect(name == "backhauld-23f6b9c7437c69da.service")
        #expect(DaemonService.name(store: "/home/you/.local/state/backhaul") != name)
        #expect(DaemonService.name(store: "").count == name.count)
    }
}
