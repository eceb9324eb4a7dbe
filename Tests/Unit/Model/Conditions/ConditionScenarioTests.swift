import BackhaulModel
import Testing

/// Simulates a task over some time, and records when the task runs and why it waits. A filter delays improvements of
/// *conditions*, which are facts such as power or heat. At each change of the situation, the simulation decides whether
/// the task runs. It decides again at the times that the filter and the last decision have returned.
struct Scenario {
    /// A change of the situation, and its time in milliseconds after the start.
    typealias Change = (at: Int64, change: (inout Situation) -> Void)

    static let second: Int64 = 1_000
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000

    var situation = Situation()

    /// Returns an entry for each change of the task's reason to wait, such as "21:40:00 power". If the task has several
    /// reasons, only the first one counts. If the task has no reason to wait, the entry says "runs".
    func history(until end: Int64, _ changes: [Change]) -> [String] {
        var situation = situation
        var filter = ConditionsFilter()
        var held: Set<WaitReason> = []
        var history: [String] = []
        var last: WaitReason?
        var at: Int64 = 0
        var pending = changes
        while at <= end {
            while let first = pending.first, first.at <= at {
                first.change(&situation)
                pending.removeFirst()
            }
            let seen = filter.take(situation.conditions, now: at)
            var moment = situation
            moment.conditions = seen.conditions
            moment.held = held
            moment.now += at
            let holds = moment.holds
            held = Set(holds.map(\.reason))
            let reason = holds.first?.reason ?? .none
            if reason != last { history.append("\(clock(moment.now)) \(reason == .none ? "runs" : "\(reason)")") }
            last = reason
            let timed = DeferralDecision.nextChange(moment.effective, moment.facts).map { $0 - situation.now }
            let announced = holds.first?.nextCheckMilliseconds.map { $0 - situation.now }
            let nexts = [timed, seen.nextCheck, pending.first?.at, announced]
            guard let next = nexts.compactMap(\.self).filter({ $0 > at }).min() else { break }
            at = next
        }
        return history
    }

    private func clock(_ unix: Int64) -> String {
        let seconds = (unix + Berlin.offset(unix)) / 1_000 % 86_400
        return [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
    }
}

/// All scenarios begin on Friday, 20 November 2026, at 21:40.
///
/// The preset *overnight* adds quiet hours from 07:00 to 23:00, in which tasks wait.
@Suite("A task while conditions change")
struct ConditionScenarioTests {
    typealias S = Scenario

    @Test("a discretionary task stops when the laptop is unplugged, and continues ten seconds after power is back")
    func unplugged() {
        var scenario = Scenario()
        scenario.situation.session.preset = .discretionary
        scenario.situation.conditions.externalPower = Reading(true)
        let history = scenario.history(
            until: S.hour,
            [
                (5 * S.second, { $0.conditions.externalPower = Reading(false) }),
                (20 * S.minute, { $0.conditions.externalPower = Reading(true) }),
            ])
        #expect(history == ["21:40:00 runs", "21:40:05 power", "22:00:10 runs"])
    }

    @Test("flapping power stops a discretionary task only one time")
    func loosePlug() {
        var scenario = Scenario()
        scenario.situation.session.preset = .discretionary
        let changes = (0..<60).map { second -> Scenario.Change in
            (Int64(second) * S.second, { $0.conditions.externalPower = Reading(second % 2 == 1) })
        }
        #expect(scenario.history(until: S.hour, changes) == ["21:40:00 power", "21:41:09 runs"])
    }

    @Test("a task that needs an unmetered network waits on a hotspot, and continues at home")
    func hotspot() {
        var scenario = Scenario()
        scenario.situation.session.requiresUnmetered = true
        scenario.situation.conditions = .onTheRoad
        let history = scenario.history(
            until: S.hour,
            [
                (
                    30 * S.minute,
                    {
                        $0.conditions.network = Reading(Network(name: "Home", kind: .wifi))
                        $0.conditions.isMetered = Reading(false)
                    }
                )
            ])
        #expect(history == ["21:40:00 metered", "22:10:10 runs"])
    }

    @Test("a discretionary task continues half a minute after the heat has ended")
    func hot() {
        var scenario = Scenario()
        scenario.situation.session.preset = .discretionary
        let history = scenario.history(
            until: S.hour,
            [
                (S.minute, { $0.conditions.thermalState = Reading(.serious) }),
                (2 * S.minute, { $0.conditions.thermalState = Reading(.fair) }),
                (2 * S.minute + 10 * S.second, { $0.conditions.thermalState = Reading(.serious) }),
                (3 * S.minute, { $0.conditions.thermalState = Reading(.nominal) }),
            ])
        #expect(history == ["21:40:00 runs", "21:41:00 heat", "21:43:30 runs"])
    }

    @Test("a task with the preset overnight runs only at night, but after its latest start it also runs by day")
    func overnight() {
        var scenario = Scenario()
        scenario.situation.session.preset = .overnight
        let history = scenario.history(until: 14 * S.hour, [(12 * S.hour, { $0.task.isPastLatestStart = true })])
        #expect(history == ["21:40:00 quietHours", "23:00:00 runs", "07:00:00 quietHours", "09:40:00 runs"])
    }

    @Test("if the budget of a month is spent, a task waits until midnight of the 1st")
    func budget() {
        let end = 11 * 24 * S.hour
        var scenario = Scenario()
        scenario.situation.budgets = [.monthOfHotspot(used: 4_999_999_999)]
        let history = scenario.history(
            until: end,
            [
                (S.hour, { $0.budgets = [.monthOfHotspot()] }),
                (10 * 24 * S.hour + 140 * S.minute, { $0.budgets = [] }),
            ])
        #expect(history == ["21:40:00 runs", "22:40:00 budget", "00:00:00 runs"])
    }

    @Test("if the battery is low, a task waits until the charge is five points above the minimum")
    func battery() {
        var scenario = Scenario()
        scenario.situation.session.minimumBatteryPercent = 40
        scenario.situation.conditions.externalPower = Reading(false)
        let changes = [41, 40, 39, 40, 44, 45].enumerated().map { minute, percent -> Scenario.Change in
            (Int64(minute) * S.minute, { $0.conditions.batteryPercent = Reading(UInt8(percent)) })
        }
        #expect(scenario.history(until: S.hour, changes) == ["21:40:00 runs", "21:42:00 battery", "21:45:00 runs"])
    }
}
