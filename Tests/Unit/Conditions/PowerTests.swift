@testable import BackhaulConditions
import BackhaulModel
import Testing

/// The machine of a test case: the names and attributes of its power supplies, and the expected reading.
struct Supplies: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let supplies: [(String, [String: String])]
    let isExternal: Bool
    let percent: UInt8?

    init(_ description: String, _ supplies: [(String, [String: String])], external: Bool, percent: UInt8?) {
        testDescription = description
        self.supplies = supplies
        isExternal = external
        self.percent = percent
    }

    static func battery(_ status: String, _ capacity: String) -> [String: String] {
        ["type": "Battery", "scope": "System", "present": "1", "status": status, "capacity": capacity]
    }

    static func mains(_ online: String) -> [String: String] { ["type": "Mains", "online": online] }
}

/// The tests read external power and the charge of batteries.
@Suite("Power")
struct PowerTests {
    static let machines: [Supplies] = [
        Supplies("a server without power supplies", [], external: true, percent: nil),
        Supplies("a desktop with mains", [("AC", Supplies.mains("1"))], external: true, percent: nil),
        Supplies(
            "a plugged laptop", [("AC", Supplies.mains("1")), ("BAT0", Supplies.battery("Charging", "81"))],
            external: true, percent: 81),
        Supplies(
            "an unplugged laptop", [("AC", Supplies.mains("0")), ("BAT0", Supplies.battery("Discharging", "80"))],
            external: false, percent: 80),
        Supplies(
            "an unplugged laptop whose battery still reports that it charges",
            [("AC", Supplies.mains("0")), ("BAT0", Supplies.battery("Charging", "80"))], external: false, percent: 80),
        Supplies(
            "a laptop whose battery discharges although it is plugged in",
            [("AC", Supplies.mains("1")), ("BAT0", Supplies.battery("Discharging", "40"))],
            external: true, percent: 40),
        Supplies(
            "a full battery without any other supply", [("BAT0", Supplies.battery("Full", "100"))],
            external: true, percent: 100),
        Supplies(
            "a discharging battery without any other supply", [("BAT0", Supplies.battery("Discharging", "7"))],
            external: false, percent: 7),
        Supplies(
            "a battery of unknown status without any other supply", [("BAT0", Supplies.battery("Unknown", "7"))],
            external: true, percent: 7),
        Supplies(
            "a laptop with power over one of two USB ports",
            [
                ("ucsi1", ["type": "USB", "online": "0"]), ("ucsi2", ["type": "USB", "online": "2"]),
                ("BAT0", Supplies.battery("Unknown", "50")),
            ], external: true, percent: 50),
        Supplies(
            "a battery of unknown status beside a USB port without power",
            [("ucsi1", ["type": "USB", "online": "0"]), ("BAT0", Supplies.battery("Unknown", "50"))],
            external: false, percent: 50),
        Supplies(
            "a charging battery beside a USB port without power",
            [("ucsi1", ["type": "USB", "online": "0"]), ("BAT0", Supplies.battery("Charging", "50"))],
            external: true, percent: 50),
        Supplies(
            "a desktop with an unused USB port", [("ucsi1", ["type": "USB", "online": "0"])],
            external: true, percent: nil),
        Supplies(
            "a phone on its charging pad",
            [("wireless", ["type": "Wireless", "online": "1"]), ("battery", Supplies.battery("Charging", "12"))],
            external: true, percent: 12),
        Supplies(
            "a UPS on mains", [("ups", ["type": "UPS", "status": "Charging", "capacity": "90"])],
            external: true, percent: 90),
        Supplies(
            "a discharging UPS beside a mains supply that reports power",
            [("AC", Supplies.mains("1")), ("ups", ["type": "UPS", "status": "Discharging", "capacity": "66"])],
            external: false, percent: 66),
        Supplies(
            "a desktop with the batteries of a mouse and a pen",
            [
                ("hid-mouse", ["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "3"]),
                ("wacom", ["type": "USB", "scope": "Device", "online": "0"]),
            ], external: true, percent: nil),
        Supplies(
            "a machine without a battery whose mains supply reports no power", [("AC", Supplies.mains("0"))],
            external: true, percent: nil),
        Supplies(
            "a discharging battery beside an empty battery bay",
            [
                ("AC", Supplies.mains("0")), ("BAT0", Supplies.battery("Discharging", "30")),
                ("BAT1", ["type": "Battery", "present": "0", "status": "Unknown", "capacity": "0"]),
            ], external: false, percent: 30),
        Supplies(
            "two batteries of different size",
            [
                ("AC", Supplies.mains("0")),
                ("BAT0", Supplies.battery("Discharging", "100").merging(["energy_full": "10000000"]) { $1 }),
                ("BAT1", Supplies.battery("Unknown", "20").merging(["energy_full": "30000000"]) { $1 }),
            ], external: false, percent: 40),
        Supplies(
            "two batteries, one of them of unknown size",
            [
                ("BAT0", Supplies.battery("Discharging", "100").merging(["energy_full": "10000000"]) { $1 }),
                ("BAT1", Supplies.battery("Discharging", "20")),
            ], external: false, percent: 60),
        Supplies(
            "a battery that reports amounts and no percentage",
            [("BAT0", ["type": "Battery", "status": "Discharging", "charge_now": "1000", "charge_full": "4000"])],
            external: false, percent: 25),
        Supplies(
            "a battery that reports more energy than its full capacity",
            [("BAT0", ["type": "Battery", "status": "Full", "energy_now": "41", "energy_full": "40"])],
            external: true, percent: 100),
    ]

    @Test("external power and the charge are read from the power supplies of a machine", arguments: machines)
    func machine(_ machine: Supplies) {
        let tree = FakeTree()
        tree.makeFolder(PowerState.folder)
        for (name, attributes) in machine.supplies { tree.supply(name, attributes) }
        let state = PowerState.read(SystemTree(root: tree.root))
        #expect(state.externalPower.value == machine.isExternal, "\(state.externalPower.source)")
        #expect(state.batteryPercent.value == machine.percent, "\(state.batteryPercent.source)")
    }

    @Test(
        "if a battery reports an implausible charge, the charge is unknown",
        arguments: [
            "-5", "250", "abc", "", "1e9", "99999999999999999999", "0x20", "50%", "\u{0}", "nan",
        ])
    func nonsense(_ capacity: String) {
        let tree = FakeTree()
        tree.supply("BAT0", Supplies.battery("Discharging", capacity))
        let state = PowerState.read(SystemTree(root: tree.root))
        #expect(state.batteryPercent.value == nil)
        #expect(state.externalPower.value == false)
    }

    @Test("if one of two batteries reports an implausible charge, only the charge of the other battery counts")
    func otherBattery() {
        let tree = FakeTree()
        tree.supply("BAT0", Supplies.battery("Discharging", "250"))
        tree.supply("BAT1", Supplies.battery("Discharging", "55"))
        #expect(PowerState.read(SystemTree(root: tree.root)).batteryPercent.value == 55)
    }

    @Test("a charge slightly above 100 % counts as full", arguments: [("100", UInt8(100)), ("103", 100), ("110", 100)])
    func full(_ capacity: String, _ percent: UInt8) {
        let tree = FakeTree()
        tree.supply("BAT0", Supplies.battery("Full", capacity))
        #expect(PowerState.read(SystemTree(root: tree.root)).batteryPercent.value == percent)
    }

    @Test(
        "if the energy values of a battery give no plausible charge, the charge is unknown",
        arguments: [
            ("10", "0"), ("10", "-40"), ("-10", "40"), ("10", ""), ("99999999999999999", "1"), ("x", "40"),
        ])
    func amounts(_ now: String, _ full: String) {
        let tree = FakeTree()
        tree.supply("BAT0", ["type": "Battery", "status": "Discharging", "energy_now": now, "energy_full": full])
        #expect(PowerState.read(SystemTree(root: tree.root)).batteryPercent.value == nil)
    }

    @Test("an attribute of a power supply is ignored if it is a folder, a pipe or a very large file")
    func oddFiles() {
        let tree = FakeTree()
        tree.supply("AC", Supplies.mains("0"))
        tree.supply("BAT0", ["type": "Battery", "status": "Discharging"])
        tree.makeFolder("class/power_supply/BAT0/capacity")
        tree.supply("BAT1", ["type": "Battery", "status": String(repeating: "x", count: 100_000), "capacity": "44"])
        tree.makePipe("class/power_supply/BAT2/type")
        tree.write("class/power_supply/README", "no supply")
        let state = PowerState.read(SystemTree(root: tree.root))
        #expect(state.batteryPercent.value == 44)
        #expect(state.externalPower.value == false)
    }

    @Test("very many empty entries in the folder of power supplies do not prevent the reading of external power")
    func manyEntries() {
        let tree = FakeTree()
        for number in 0..<600 { tree.makeFolder("class/power_supply/empty\(number)") }
        #expect(PowerState.read(SystemTree(root: tree.root)).externalPower.value == true)
    }

    @Test("if the folder of power supplies is unreadable, power is unknown, and the reading has the error")
    func noFolder() {
        let state = PowerState.read(SystemTree(root: "/nowhere"))
        #expect(state.externalPower.value == nil)
        #expect(state.externalPower.source == "cannot read /nowhere/class/power_supply: No such file or directory")
    }

    @Test("a reading names the power supplies from which it comes")
    func sources() {
        let tree = FakeTree()
        tree.supply("AC", Supplies.mains("0"))
        tree.supply("BAT0", Supplies.battery("Discharging", "50"))
        tree.supply("BAT1", Supplies.battery("Discharging", "50"))
        let state = PowerState.read(SystemTree(root: tree.root))
        #expect(state.externalPower.source == "\(tree.root)/class/power_supply/AC")
        #expect(state.batteryPercent.source == "\(tree.root)/class/power_supply/{BAT0,BAT1}")
    }
}
