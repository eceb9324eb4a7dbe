import BackhaulModel
import Testing

/// Each hold has a sentence that explains the reason. A session's or task's *stated* field is one that the host has
/// set.
@Suite("Holds and their sentences")
struct HoldTests {
    @Test("unknown conditions hold no task")
    func unknown() {
        let strict = Constraints(.discretionary) {
            $0.minimumBatteryPercent = 50
            $0.maximumCPUPressurePercent = 1
            $0.networks = .ethernet
        }
        #expect(Situation { $0.session = strict }.holds.isEmpty)
    }

    @Test("a task without constraints runs on battery and on a metered network")
    func noWishes() { #expect(Situation { $0.conditions = .onTheRoad }.holds.isEmpty) }

    @Test("a discretionary task waits for external power and an unmetered network")
    func discretionary() {
        let situation = Situation { ($0.session, $0.conditions) = (Constraints(.discretionary), .onTheRoad) }
        #expect(situation.reasons == [.power, .metered])
        #expect(
            situation.sentences == [
                "the machine is on battery, and the transfer waits for external power",
                "the network Hotspot is metered (data may cost money), as NetworkManager says, and the transfer "
                    + "waits for an unmetered one",
            ])
    }

    @Test("if the charge is unknown, a task that requires external power waits only for external power")
    func noPercentage() {
        let situation = Situation {
            $0.session.requiresExternalPower = true
            $0.conditions.externalPower = Reading(false)
        }
        #expect(situation.sentences == ["the machine is on battery, and the transfer waits for external power"])
    }

    @Test("a stated field of a session overrides the session's preset, even if the field is less strict")
    func fieldBesidePreset() {
        let situation = Situation {
            $0.session = Constraints(.discretionary) { $0.requiresExternalPower = false }
            $0.conditions = .onTheRoad
        }
        #expect(situation.reasons == [.metered])
    }

    @Test("a task cannot weaken its session's constraints")
    func taskCannotLoosen() {
        let situation = Situation {
            $0.session = Constraints(.discretionary)
            $0.task = TaskConstraints(Constraints { ($0.requiresExternalPower, $0.requiresUnmetered) = (false, false) })
            $0.conditions = .onTheRoad
        }
        #expect(situation.reasons == [.power, .metered])
    }

    @Test("after its latest start, a task ignores presets, but obeys stated constraints")
    func pastLatestStart() {
        let situation = Situation {
            $0.session = Constraints(.overnight) { $0.requiresUnmetered = true }
            $0.task = TaskConstraints(Constraints(.discretionary), isPastLatestStart: true)
            $0.conditions = .onTheRoad
        }
        #expect(situation.reasons == [.metered])
    }

    @Test("a task from a launched host is discretionary, except in the fields that the task states")
    func launched() {
        let situation = Situation {
            $0.task = TaskConstraints(Constraints { $0.requiresUnmetered = false }, isLaunched: true)
            $0.conditions = .onTheRoad
        }
        #expect(situation.reasons == [.power])
    }

    @Test(
        "on battery power, a low charge holds tasks until the charge is five points above the minimum",
        arguments: [
            (39, false, true), (40, false, false), (44, true, true), (45, true, false),
        ] as [(UInt8, Bool, Bool)])
    func battery(percent: UInt8, wasHeld: Bool, isHeld: Bool) {
        var situation = Situation {
            $0.session.minimumBatteryPercent = 40
            $0.conditions.externalPower = Reading(false)
            $0.conditions.batteryPercent = Reading(percent)
            $0.held = wasHeld ? [.battery] : []
        }
        #expect(situation.reasons == (isHeld ? [.battery] : []))
        situation.conditions.externalPower = Reading(true)
        #expect(situation.holds.isEmpty)
    }

    @Test("the charge that releases held tasks is at most 100 %")
    func fullBattery() {
        let situation = Situation {
            $0.session.minimumBatteryPercent = 98
            $0.conditions.externalPower = Reading(false)
            $0.conditions.batteryPercent = Reading(99)
            $0.held = [.battery]
        }
        #expect(
            situation.sentences == [
                "the battery is at 99 %, and the transfer waits until that is 100 %, or for external power"
            ])
    }

    @Test(
        "serious heat holds discretionary tasks, and critical heat holds all tasks",
        arguments: [
            (ThermalState.fair, [], []), (.serious, [.heat], []), (.critical, [.heat], [.heat]),
        ] as [(ThermalState, [WaitReason], [WaitReason])])
    func heat(state: ThermalState, discretionary: [WaitReason], ordinary: [WaitReason]) {
        var situation = Situation {
            $0.conditions.thermalState = Reading(state)
            $0.isLocal = true
        }
        #expect(situation.reasons == ordinary)
        situation.session.preset = .discretionary
        #expect(situation.reasons == discretionary)
    }

    @Test("if the hottest sensor is known, the sentence about heat has the sensor's name and limits")
    func heatSentence() {
        var situation = Situation {
            $0.session.preset = .discretionary
            $0.conditions.thermalState = Reading(.serious, source: "/sys/class/thermal/thermal_zone3")
        }
        #expect(
            situation.sentences == [
                "the machine's heat is serious, and the transfer waits until the machine is no hotter than fair"
            ])
        situation.conditions.hottestSensor = HottestSensor(
            name: "the sensor board", degrees: 93, levels: [.fair: 70, .serious: 88, .critical: 95])
        #expect(
            situation.sentences == [
                "the sensor board is at 93 degrees (serious), and the transfer waits until the machine is no "
                    + "hotter than fair (88 degrees)"
            ])
    }

    @Test("the sentence about pressure has the value, the limit and the value that releases the task")
    func pressureSentence() {
        let situation = Situation {
            $0.session.maximumCPUPressurePercent = 30
            $0.conditions.cpuPressurePercent = Reading(61)
        }
        #expect(
            situation.sentences == [
                "other programs keep the processors busy: some waited in 61 % of the last 10 seconds (limit 30 %, the "
                    + "transfer continues at 25 %)"
            ])
    }

    @Test("the sentence about a metered network names the source of this fact")
    func meteredSource() {
        let situation = Situation {
            $0.session.requiresUnmetered = true
            $0.conditions.network = Reading(Network(name: "eth0", kind: .ethernet))
            $0.conditions.isMetered = Reading(true, source: "configured")
        }
        #expect(
            situation.sentences == [
                "the network eth0 is metered (data may cost money), as set with `backhaul networks`, and the "
                    + "transfer waits for an unmetered one"
            ])
    }

    @Test(
        "pressure above its limit holds a task until the pressure is five points below the limit",
        arguments: [
            (40, 40, false, false), (41, 40, false, true), (36, 40, true, true), (35, 40, true, false),
            (5, 8, true, true),
            (4, 8, true, false), (1, 1, true, true), (0, 1, true, false),
        ] as [(UInt8, UInt8, Bool, Bool)])
    func pressure(value: UInt8, limit: UInt8, wasHeld: Bool, isHeld: Bool) {
        let situation = Situation {
            $0.session.maximumIOPressurePercent = limit
            $0.conditions.ioPressurePercent = Reading(value)
            $0.held = wasHeld ? [.pressure] : []
        }
        #expect(situation.reasons == (isHeld ? [.pressure] : []))
    }

    @Test("the sentence about kinds of networks names the required or the excluded kinds")
    func kinds() {
        var situation = Situation {
            $0.session.networks = [.ethernet, .wifi]
            $0.conditions.network = Reading(Network(name: "Telekom", kind: .cellular))
        }
        #expect(
            situation.sentences == [
                "the transfer waits for ethernet or Wi-Fi; the route to the internet is now Telekom (cellular)"
            ])
        situation.session.networks = .all.subtracting(.cellular)
        #expect(
            situation.sentences == [
                "the transfer waits for a network that is not cellular; the route to the internet is now Telekom "
                    + "(cellular)"
            ])
    }

    @Test("if a session and its task permit no common kind of network, the task's hold has no end time")
    func excluded() {
        let situation = Situation {
            $0.session.networks = .wifi
            $0.task.stated.networks = .ethernet
        }
        #expect(situation.reasons == [.network])
        #expect(situation.holds.first?.nextCheckMilliseconds == nil)
    }

    @Test("conditions of the network do not hold a task whose server is on this machine")
    func local() {
        let situation = Situation {
            $0.session = Constraints { ($0.requiresUnmetered, $0.networks) = (true, .ethernet) }
            $0.task.stated.networks = .wifi
            $0.conditions = .onTheRoad
            $0.conditions.connectivity = Reading(.portal)
            $0.budgets = [.monthOfHotspot()]
            $0.isLocal = true
        }
        #expect(situation.holds.isEmpty)
    }

    @Test(
        "until a server has responded, a login portal or a dead uplink holds the tasks that need the uplink",
        arguments: [
            ConnectivityState.portal, .limited,
        ])
    func portal(state: ConnectivityState) {
        var situation = Situation { $0.conditions.connectivity = Reading(state, source: "NetworkManager") }
        #expect(situation.reasons == [.portal])
        situation.needsNoUplink = true
        #expect(situation.holds.isEmpty)
        (situation.needsNoUplink, situation.isUplinkProven) = (false, true)
        #expect(situation.holds.isEmpty)
    }

    @Test("before the machine sleeps, all tasks are held, even a task whose server is on this machine")
    func sleep() {
        let situation = Situation {
            $0.conditions.isPreparingForSleep = Reading(true)
            $0.isLocal = true
        }
        #expect(situation.reasons == [.sleep])
    }

    @Test("until external power has been back for 10 s, the task stays held, and the sentence says this")
    func settling() {
        let situation = Situation {
            $0.session.preset = .discretionary
            $0.conditions.externalPower = Reading(false)
            $0.conditions.externalPower.settling = SettlingPeriod(durationMilliseconds: 10_000, endsAt: 5_000)
        }
        #expect(situation.sentences == ["external power is back, and the transfer waits until that has lasted 10 s"])
        #expect(situation.holds.first?.nextCheckMilliseconds == situation.now + 4_000)
    }
}

extension BudgetUsage {
    static func monthOfHotspot(limit: UInt64 = 5_000_000_000, used: UInt64 = 5_000_000_000) -> BudgetUsage {
        BudgetUsage(
            .network, network: "Hotspot",
            period: .month(at: Situation().now, localOffsetMilliseconds: Berlin.offset), limit: limit, used: used)
    }
}
