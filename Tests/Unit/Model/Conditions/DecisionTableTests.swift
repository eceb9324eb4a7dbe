import BackhaulModel
import Testing

/// Condition × policy × state with the expected decision. All columns at once would be some 10^17 rows. So each
/// reason's own columns, at session and task, by field and by preset, launched and past its latest start, are walked
/// through without exception, while the columns of all other reasons are drawn anew for every row, and the whole answer
/// is compared: each row of a reason meets others, and nothing that a column does to another reason's goes unseen.
@Suite("The table of decisions")
struct DecisionTableTests {
    /// Calls `row` with everything that session and task can say about one field.
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

    /// Rows that are decided in another way than they should be. `#expect` of each row would take most of the time.
    private final class Table {
        var rows = 0
        var wrong = 0
        var first = ""

        func check(_ situation: Situation) {
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

    @Test("external power, by every policy, with every reading")
    func power() {
        let table = Table()
        var random = Random(seed: 1)
        for reading in Column.answers {
            policies(\.requiresExternalPower, Column.answers, &random) {
                $0.conditions.externalPower = Reading(reading)
                table.check($0)
            }
        }
        table.expectNoneWrong()
    }

    @Test("a metered network, by every policy, with every reading, near and far")
    func metered() {
        let table = Table()
        var random = Random(seed: 2)
        for reading in Column.answers {
            for isLocal in [false, true] {
                policies(\.requiresUnmetered, Column.answers, &random) {
                    $0.conditions.isMetered = Reading(reading)
                    $0.isLocal = isLocal
                    table.check($0)
                }
            }
        }
        table.expectNoneWrong()
    }

    @Test("heat, by every policy, with every reading")
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

    @Test("a battery, by every policy, with every charge and source of power, before and after it was held")
    func battery() {
        let table = Table()
        var random = Random(seed: 4)
        for charge in Column.charges {
            for power in Column.answers {
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

    @Test("pressure of each kind, by every policy, with every reading, before and after it was held",
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

    @Test("kinds of network, by every policy, with every reading, near and far")
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

    @Test("quiet hours, by every policy")
    func quietHours() {
        let table = Table()
        var random = Random(seed: 10)
        policies(\.quietHours, Column.hours, &random) { table.check($0) }
        table.expectNoneWrong()
    }

    @Test("the uplink, budgets and sleep, with every reading, near and far")
    func others() {
        let table = Table()
        var random = Random(seed: 11)
        for (connectivity, sleep) in Column.connectivities.flatMap({ one in Column.answers.map { (one, $0) } }) {
            for bits in 0..<16 {
                for _ in 0..<20 {
                    var situation = Situation.random(&random)
                    situation.conditions.connectivity = Reading(connectivity)
                    situation.conditions.isAboutToSleep = Reading(sleep)
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

    @Test("every combination of readings that are good, bad or unknown with every combination of demands")
    func combinations() {
        let table = Table()
        let answers = Column.answers
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
                row.conditions.externalPower.value = answers[readings % 3]
                row.conditions.isMetered.value = answers[readings / 3 % 3]
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
