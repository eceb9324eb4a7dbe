import BackhaulBus
import Testing

@testable import BackhaulUserManager

/// A *transient service* is a service that systemd runs without a unit file.
@Suite struct TransientServiceTests {
    private let service = TransientService(
        name: "a.service", description: "A service", program: "/usr/bin/a", arguments: ["$HOME", "100%"])

    private func properties(_ service: TransientService, version: Int = 252) -> [String: BusValue] {
        Dictionary(service.properties(version: version)) { $1 }
    }

    @Test("a minimal service has only the necessary properties, including the property that unloads an ended service")
    func least() {
        let properties = properties(service)
        #expect(Set(properties.keys) == ["Description", "ExecStart", "Type", "CollectMode", "AddRef"])
        #expect(properties["Type"] == .string("exec"))
        #expect(properties["CollectMode"] == .string("inactive-or-failed"))
    }

    @Test("a dollar sign in an argument of a service is escaped")
    func dollar() {
        #expect(
            properties(service)["ExecStart"]
                == .array(
                    "(sasb)",
                    [.structure([.string("/usr/bin/a"), .strings(["/usr/bin/a", "$$HOME", "100%"]), .bool(false)])]))
        #expect(properties(service)["ExecStart"]?.signature == "a(sasb)")
    }

    @Test(
        "an older user manager gets only properties that it knows",
        arguments: [(0, 0), (219, 0), (236, 1), (239, 1), (240, 2), (249, 2), (250, 3), (257, 3)])
    func versions(version: Int, newer: Int) {
        var service = service
        service.exitsWithControlGroup = true
        let known = Set(properties(service, version: version).keys)
        #expect(known.intersection(["Type", "CollectMode", "ExitType"]).count == newer)
    }

    @Test("the restart times of a service are sent in microseconds and do not overflow")
    func restart() {
        var service = service
        service.restart = .init(
            delayMilliseconds: 1_500, attempts: 4, startLimitIntervalMilliseconds: UInt64.max,
            restartPreventExitCodes: [6])
        let properties = properties(service)
        #expect(properties["Restart"] == .string("on-failure"))
        #expect(properties["RestartUSec"] == .uint64(1_500_000))
        #expect(properties["StartLimitIntervalUSec"] == .uint64(UInt64.max))
        #expect(properties["StartLimitBurst"] == .uint32(4))
        #expect(properties["RestartPreventExitStatus"]?.signature == "(aiai)")
    }

    @Test("the environment, directory and stop time-out of a service are set")
    func surroundings() {
        var service = service
        service.environment = ["B": "2", "A": "a b"]
        service.workingDirectory = "/srv"
        service.stopTimeoutMilliseconds = 10_000
        let properties = properties(service)
        #expect(properties["Environment"] == .strings(["A=a b", "B=2"]))
        #expect(properties["WorkingDirectory"] == .string("/srv"))
        #expect(properties["TimeoutStopUSec"] == .uint64(10_000_000))
    }

    @Test(
        "a sandboxed service has the restrictions of the daemon, if the user manager knows all of them",
        arguments: [(0, false), (241, false), (242, true), (257, true)])
    func sandbox(version: Int, isKnown: Bool) {
        var service = service
        let without = Set(properties(service, version: version).keys)
        service.isSandboxed = true
        let added = Set(properties(service, version: version).keys).subtracting(without)
        #expect(added == (isKnown ? Set(DaemonSandbox.settings.map { $0.name }) : []))
    }

    @Test("if daemons have different stores, their units have different names")
    func unitName() {
        let name = DaemonService.name(store: "/home/me/.local/state/backhaul")
        #expect(name == "backhauld-23f6b9c7437c69da.service")
        #expect(DaemonService.name(store: "/home/you/.local/state/backhaul") != name)
        #expect(DaemonService.name(store: "").count == name.count)
    }
}
