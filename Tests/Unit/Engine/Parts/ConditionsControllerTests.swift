import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Judging holds")
struct ConditionsControllerTests {
    let world = ConditionWorld()
    var conditions: ConditionsController { world.conditions }

    @Test("holds are judged once at the end of a loop iteration, even if planned twice")
    func once() {
        conditions.planReconsider()
        conditions.planReconsider()
        world.runtime.endTurn()
        #expect(world.runtime.takeEffects().count(\.isDecided) == 1)
    }

    @Test("a change in the same iteration is judged before tasks start, and not again at its end")
    func beforeTheStart() {
        world.parts.monitor.need(.power)
        world.source.changed()
        #expect(conditions.judgePlanned().has(\.isDecided))
        world.runtime.endTurn()
        #expect(!world.runtime.takeEffects().has(\.isConditionsChanged))
    }

    @Test("a long transfer depends on heat and sleep, also if lanes are loaded meanwhile")
    func lasting() {
        world.running.tasks = [world.below.task(1)]
        _ = conditions.note(ConditionWorld.group)
        for second in 1...9 {
            if second == 8 { _ = world.holds.beginLoad(of: ConditionWorld.lane.id) }
            _ = conditions.prune()
            world.holds.endLoad(of: ConditionWorld.lane.id)
            world.runtime.advance(milliseconds: 1_500)
        }
        _ = conditions.prune()
        #expect(world.source.needs.isSuperset(of: [.heat, .sleep]))
    }

    @Test("quiet hours hold tasks, and depend on the calendar")
    func quietHours() throws {
        world.configure { $0.constraints.quietHours = QuietHours(spans: [.init(begin: 0, end: 1_440)]) }
        #expect(conditions.note(ConditionWorld.group).deferred.count == 1)
        #expect(world.holds.groups[ConditionWorld.group]?.held?.first?.reason == .quietHours)
        #expect(world.holds.dependsOnCalendar)
    }

    @Test("a hold ends after the time of its hysteresis without another reading")
    func lasted() {
        world.configure { $0.constraints.requiresExternalPower = true }
        world.source.current.externalPower = Reading(false)
        _ = conditions.note(ConditionWorld.group)
        world.running.tasks = [world.below.task(1)]
        world.source.current.externalPower = Reading(true)
        _ = conditions.conditionsChanged()
        world.runtime.advance(milliseconds: 10_000)
        #expect(world.holds.groups[ConditionWorld.group]?.mayStart == true)
    }

    @Test("on another network delayed tasks are judged again")
    func otherNetwork() {
        _ = conditions.note(ConditionWorld.group)
        world.running.tasks = [world.below.task(1)]
        world.parts.monitor.need(.network)
        world.source.current.network = Reading(Network(name: "home", kind: .wifi))
        _ = conditions.conditionsChanged()
        world.source.current.network = Reading(Network(name: "phone", kind: .cellular))
        #expect(conditions.conditionsChanged().has(\.isJudgeDelayed))
    }

    @Test("holds are not judged after close")
    func closed() {
        _ = conditions.note(ConditionWorld.group)
        conditions.close()
        #expect(conditions.reconsider().isEmpty)
        #expect(conditions.prune().isEmpty)
        #expect(conditions.clockWasSet().isEmpty)
    }

    @Test("holds of an activity are unknown until its conditions are read")
    func activity() {
        var stated = Constraints()
        stated.preset = .discretionary
        let constraints = EffectiveConstraints(session: stated)
        #expect(conditions.holds(for: constraints, of: PartWorld.session).holds == nil)
        world.parts.monitor.need(constraints.neededAtStart(isLocal: false))
        #expect(conditions.holds(for: constraints, of: PartWorld.session).holds?.isEmpty == true)
    }

    // MARK: Sleep

    private final class Saved {
        var isSaved = false
    }

    private func aboutToSleep(_ saved: Saved) -> SleepController {
        let sleep = SleepController(world.runtime, world.parts.monitor, isSaved: { saved.isSaved })
        world.parts.monitor.need(.sleep)
        world.source.current.isAboutToSleep = Reading(true)
        _ = conditions.conditionsChanged()
        return sleep
    }

    @Test("the system is notified once that it may sleep, when the tasks have stopped")
    func sleeps() {
        let saved = Saved()
        let sleep = aboutToSleep(saved)
        sleep.consider()
        #expect(world.source.readyToSleepCount == 0)
        saved.isSaved = true
        sleep.consider()
        sleep.consider()
        #expect(world.source.readyToSleepCount == 1)
    }

    @Test("the system waits for the tasks four seconds at most")
    func patience() {
        let sleep = aboutToSleep(Saved())
        sleep.consider()
        world.runtime.advance(milliseconds: 3_999)
        #expect(world.source.readyToSleepCount == 0)
        world.runtime.advance(milliseconds: 1)
        #expect(world.source.readyToSleepCount == 1)
        withExtendedLifetime(sleep) {}
    }
}
