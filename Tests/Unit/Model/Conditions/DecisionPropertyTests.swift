import BackhaulModel
import TestSupport
import Testing

/// The *needed conditions* of a task are the facts about the system that the task's constraints concern.
@Suite("Properties of every decision")
struct DecisionPropertyTests {
    /// Checks a property for random rows of constraints and facts, and records the first row for which the property is
    /// false.
    private func everyRow(
        _ seed: UInt64, _ location: SourceLocation = #_sourceLocation, _ isTrue: (Situation, inout Random) -> Bool
    ) {
        var random = Random(seed: seed)
        for _ in 0..<(Slice.hasAll ? 10_000 : 2_000) {
            let row = Situation.random(&random)
            guard isTrue(row, &random) else {
                Issue.record("\(row.holds) for \(row)", sourceLocation: location)
                return
            }
        }
    }

    @Test("a task's constraints never remove a hold that its session's constraints cause")
    func stricterTask() {
        everyRow(21) { row, _ in
            var bare = row
            bare.task.stated = .none
            bare.task.isLaunched = false
            return Set(bare.reasons).isSubset(of: row.reasons)
        }
    }

    @Test("a condition that becomes unknown adds no hold")
    func unknown() {
        everyRow(22) { row, random in
            var blind = row
            switch random.number(0...9) {
            case 0: blind.conditions.externalPower.value = nil
            case 1: blind.conditions.batteryPercent.value = nil
            case 2: blind.conditions.thermalState.value = nil
            case 3: blind.conditions.cpuPressurePercent.value = nil
            case 4: blind.conditions.ioPressurePercent.value = nil
            case 5: blind.conditions.memoryPressurePercent.value = nil
            case 6: blind.conditions.network.value = nil
            case 7: blind.conditions.isMetered.value = nil
            case 8: blind.conditions.connectivity.value = nil
            default: blind.conditions.isPreparingForSleep.value = nil
            }
            return Set(blind.reasons).isSubset(of: row.reasons)
        }
    }

    @Test("when the latest start of a task passes, the task gets no additional hold")
    func pastLatestStart() {
        everyRow(23) { row, _ in
            var (before, after) = (row, row)
            before.task.isPastLatestStart = false
            after.task.isPastLatestStart = true
            return Set(after.reasons).isSubset(of: before.reasons)
        }
    }

    @Test("a task that is already held has every hold that it would have if it ran now")
    func heldIsStickier() {
        everyRow(24) { row, _ in
            var free = row
            free.held = []
            return Set(free.reasons).isSubset(of: row.reasons)
        }
    }

    @Test("the sentence of each hold starts in lower case and has no full stop, and its next check is in the future")
    func sentences() {
        everyRow(25) { row, _ in
            row.holds.allSatisfy { hold in
                hold.sentence.first?.isUppercase == false && hold.sentence.last != "."
                    && hold.nextCheckMilliseconds.map { $0 > row.now } ?? true
            }
        }
    }

    @Test("each condition that must be read before a task starts is one of the task's needed conditions")
    func neededAtStart() {
        everyRow(27) { row, _ in
            let effective = row.effective
            let needs = effective.neededAtStart(isLocal: row.isLocal)
            return needs.isSubset(of: effective.needs(isLocal: row.isLocal))
        }
        #expect(Situation().effective.neededAtStart() == [])
        let discretionary = EffectiveConstraints(session: Constraints(.discretionary))
        #expect(discretionary.neededAtStart() == [.power, .heat, .network])
        #expect(discretionary.neededAtStart(isLocal: true) == [.power, .heat])
    }

    @Test("only the needed conditions affect the holds of a task")
    func needs() {
        everyRow(26) { row, _ in
            var read = row
            read.conditions = Conditions()
            let needs = row.effective.needs(isLocal: row.isLocal)
            if needs.contains(.power) {
                read.conditions.externalPower = row.conditions.externalPower
                read.conditions.batteryPercent = row.conditions.batteryPercent
            }
            if needs.contains(.heat) { read.conditions.thermalState = row.conditions.thermalState }
            if needs.contains(.cpuPressure) { read.conditions.cpuPressurePercent = row.conditions.cpuPressurePercent }
            if needs.contains(.ioPressure) { read.conditions.ioPressurePercent = row.conditions.ioPressurePercent }
            if needs.contains(.memoryPressure) {
                read.conditions.memoryPressurePercent = row.conditions.memoryPressurePercent
            }
            if needs.contains(.network) {
                read.conditions.network = row.conditions.network
                read.conditions.isMetered = row.conditions.isMetered
                read.conditions.connectivity = row.conditions.connectivity
            }
            if needs.contains(.sleep) { read.conditions.isPreparingForSleep = row.conditions.isPreparingForSleep }
            return read.holds == row.holds
        }
    }
}
