import BackhaulModel
import TestSupport
import Testing

/// A decision says whether a task must wait, and why. The tests compare the decisions with those of `DecisionOracle`,
/// which is a second implementation. A row is a combination of values, and each column has one kind of value: a
/// constraint, a condition or a state of a task. All combinations would be about 10^17 rows. So each test is about one
/// reason to wait. It takes every combination of values in the columns that matter for this reason, with random values
/// in all other columns. Each test compares the whole decision, so it also finds wrong effects of these columns on
/// other reasons. Except in long runs, a random fourth of the combinations is tried.
///
/// A *reading* is the read value of a fact such as power.
@Suite("The table of decisions")
struct DecisionTableTests {
    /// Calls `row` for every combination of one field's values, the presets of session and task, and the task's states.
    private func policies<Value>(
        _ field: WritableKeyPath<Constraints, Value?>, _ values: [Value?], _ random: inout Random,
        _ row: (inout Situation) -> Void
    ) {
        for ofSession in values {
            for ofTask in values {
                for sessionPreset in Column.presets {
                    for taskPreset in Column.presets {
                        for state in 0..<4 {
                            var situation = Situation.random(&random)
                            situation.session[keyPath: field] = ofSession
                            situation.task.stated[keyPath: field] = ofTask
                            situation.session.preset = sessionPreset
                            situation.task.stated.preset = taskPreset
                            situation.task.isLaunched = state & 1 != 0
                            situation.task.isPastLatestStart = state & 2 != 0
                            row(&situation)
                        }
                    }
                }
            }
        }
    }

    /// Counts the rows with a wrong decision, because an `#expect` for each row would be slow.
    private final class Table {
        var rows = 0
        var wrong = 0
        var first = ""
        private var choice = SeededGenerator(seed: 12)

        func check(_ situation: Situation) {
            guard Slice.includes(oneIn: 4, using: &choice) else { return }
            rows += 1
            let expected = DecisionOracle.reasons(situation)
            let holds = situation.holds
            if Set(holds.map(\.reason)) == expected, !holds.contains(where: { $0.sentence.isEmpty }) { return }
            if wrong == 0 { first = "expected \(expected), not \(holds), for \(situation)" }
            wrong += 1
        }

        func expectNoneWrong(_ location: SourceLocation = #_sourceLocation) {
            #expect(wrong == 0, "of \(rows) rows: \(first)", sourceLocation: location)
            #expect(rows > 0, sourceLocation: location)
        }
    }

    @Test("the decision about external power is right for every constraint and reading")
    func power() {
        let table = Table()
        var random = Random(seed: 1)
        for reading in Column.flags {
            policies(\.requiresExternalPower, Column.flags, &random) {
                $0.conditions.externalPower = Reading(reading)
                table.check($0)
            }
        }
        table.expectNoneWrong()
    }

    @Test("the decision about metered networks is right for all constraints, readings and network scopes")
    func metered() {
        let table = Table()
        var random = Random(seed: 2)
        for reading in Column.flags {
            for isLocal in [false, true] {
                policies(\.requiresUnmetered, Column.flags, &random) {
                    $0.conditions.isMetered = Reading(reading)
                    $0.isLocal = isLocal
                    table.check($0)
                }
            }
        }
        table.expectNoneWrong()
    }

    @Test("the decision about heat is right for every constraint and reading")
    func heat() {
        let table = Table()
        var random = Random(seed: 3)
        for reading in Column.heats {
            policies(\.maximumThermalState, Column.hottest, &random) {
                $0.conditions.thermalState = Reading(reading)
                table.check($0)
            }
        }
        table.expectNoneWrong()
    }

    @Test("the decision about the battery is right for all constraints, charges and power sources, and for held tasks")
    func battery() {
        let table = Table()
        var random = Random(seed: 4)
        for charge in Column.charges {
            for power in Column.flags {
                for held in [[], [.battery]] as [Set<WaitReason>] {
                    policies(\.minimumBatteryPercent, Column.minimums, &random) {
                        $0.conditions.batteryPercent = Reading(charge)
                        $0.conditions.externalPower = Reading(power)
                        $0.held = held
                        table.check($0)
                    }
                }
            }
        }
        table.expectNoneWrong()
    }

    @Test(
        "the decision about each kind of pressure is right for all constraints and readings, and for held tasks",
        arguments: [0, 1, 2])
    func pressure(kind: Int) {
        let table = Table()
        let limits: [WritableKeyPath<Constraints, UInt8?>] = [
            \.maximumCPUPressurePercent, \.maximumIOPressurePercent, \.maximumMemoryPressurePercent,
        ]
        let readings: [WritableKeyPath<Conditions, Reading<UInt8>>] = [
            \.cpuPressurePercent, \.ioPressurePercent, \.memoryPressurePercent,
        ]
        var random = Random(seed: 5 + UInt64(kind))
        for reading in Column.pressures {
            for held in [[], [.pressure]] as [Set<WaitReason>] {
                policies(limits[kind], Column.limits, &random) {
                    $0.conditions[keyPath: readings[kind]] = Reading(reading)
                    $0.held = held
                    table.check($0)
                }
            }
        }
        table.expectNoneWrong()
    }

    @Test("the decision about kinds of networks is right for all constraints, readings and network scopes")
    func networks() {
        let table = Table()
        var random = Random(seed: 9)
        for kind in Column.kinds {
            for isLocal in [false, true] {
                policies(\.networks, Column.networks, &random) {
                    $0.conditions.network = Reading(kind.map { Network(name: "Net", kind: $0) })
                    $0.isLocal = isLocal
                    table.check($0)
                }
            }
        }
        table.expectNoneWrong()
    }

    @Test("the decision about quiet hours is right for every constraint")
    func quietHours() {
        let table = Table()
        var random = Random(seed: 10)
        policies(\.quietHours, Column.hours, &random) { table.check($0) }
        table.expectNoneWrong()
    }

    @Test("the decision about uplink, budgets and sleep is right for all readings and network scopes")
    func others() {
        let table = Table()
        var random = Random(seed: 11)
        for (connectivity, sleep) in Column.connectivities.flatMap({ one in Column.flags.map { (one, $0) } }) {
            for bits in 0..<16 {
                for _ in 0..<20 {
                    var situation = Situation.random(&random)
                    situation.conditions.connectivity = Reading(connectivity)
                    situation.conditions.isPreparingForSleep = Reading(sleep)
                    situation.isLocal = bits & 1 != 0
                    situation.needsNoUplink = bits & 2 != 0
                    situation.isUplinkProven = bits & 4 != 0
                    situation.budgets = bits & 8 != 0 ? [.monthOfHotspot()] : []
                    table.check(situation)
                }
            }
        }
        table.expectNoneWrong()
    }

    @Test("the decision is right for all combinations of good, bad and unknown readings with several constraints")
    func combinations() {
        let table = Table()
        let flags = Column.flags
        for bits in 0..<(1 << 7) {
            let preset: ConstraintPreset? = bits & 32 != 0 ? .discretionary : nil
            var row = Situation {
                $0.session.preset = preset
                $0.session.requiresExternalPower = bits & 1 != 0 ? true : nil
                $0.task.stated.requiresUnmetered = bits & 2 != 0 ? true : nil
                $0.session.networks = bits & 4 != 0 ? .ethernet : nil
                $0.task.stated.minimumBatteryPercent = bits & 8 != 0 ? 50 : nil
                $0.session.maximumCPUPressurePercent = bits & 16 != 0 ? 40 : nil
                $0.task.isPastLatestStart = bits & 64 != 0
            }
            for readings in 0..<(3 * 3 * 3 * 3 * 3 * 4) {
                row.conditions.externalPower.value = flags[readings % 3]
                row.conditions.isMetered.value = flags[readings / 3 % 3]
                row.conditions.batteryPercent.value = [nil, 20, 80][readings / 9 % 3]
                row.conditions.thermalState.value = [nil, .fair, .serious][readings / 27 % 3]
                row.conditions.cpuPressurePercent.value = [nil, 10, 90][readings / 81 % 3]
                row.conditions.network.value = readings / 243 & 1 != 0 ? Network(name: "Net", kind: .wifi) : nil
                row.conditions.connectivity.value = readings / 243 & 2 != 0 ? .portal : nil
                table.check(row)
            }
        }
        table.expectNoneWrong()
    }
}
