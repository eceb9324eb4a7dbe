import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// An *activity* is work that the engine starts repeatedly. To *load* tasks is to read them from the database. A
/// *budget* limits the bytes that may be moved in a day or month. A *delayed* task is larger than the remaining budget.
@Suite("The evaluation of holds")
struct ConditionsControllerTests {
    let fixture = ConditionsFixture()
    var conditions: ConditionsController { fixture.conditions }

    @Test("holds are evaluated once at the end of a loop iteration, even if the evaluation was scheduled twice")
    func once() {
        conditions.scheduleReconsideration()
        conditions.scheduleReconsideration()
        fixture.runtime.endIteration()
        #expect(fixture.runtime.takeEffects().count(\.isDecided) == 1)
    }

    @Test("a changed condition is evaluated before tasks start, and not again at the end of the loop iteration")
    func beforeTheStart() {
        fixture.parts.monitor.need(.power)
        fixture.source.changed()
        #expect(conditions.evaluatePlanned().has(\.isDecided))
        fixture.runtime.endIteration()
        #expect(!fixture.runtime.takeEffects().has(\.isConditionsChanged))
    }

    @Test("during a long transfer, the engine reads heat and sleep, even while it loads other tasks")
    func lasting() {
        fixture.running.tasks = [fixture.base.task(1)]
        _ = conditions.note(ConditionsFixture.group)
        for second in 1...9 {
            if second == 8 { _ = fixture.holds.beginLoad(of: ConditionsFixture.lane.id) }
            _ = conditions.prune()
            fixture.holds.endLoad(of: ConditionsFixture.lane.id)
            fixture.runtime.advance(milliseconds: 1_500)
        }
        _ = conditions.prune()
        #expect(fixture.source.needs.isSuperset(of: [.heat, .sleep]))
    }

    @Test("tasks wait in quiet hours, and this hold depends on the calendar")
    func quietHours() throws {
        fixture.configure { $0.constraints.quietHours = QuietHours(spans: [.init(begin: 0, end: 1_440)]) }
        #expect(conditions.note(ConditionsFixture.group).deferred.count == 1)
        #expect(fixture.holds.groups[ConditionsFixture.group]?.held?.first?.reason == .quietHours)
        #expect(fixture.holds.dependsOnCalendar)
    }

    @Test("a hold ends ten seconds after its condition has improved, even if no condition is read again")
    func lasted() {
        fixture.configure { $0.constraints.requiresExternalPower = true }
        fixture.source.current.externalPower = Reading(false)
        _ = conditions.note(ConditionsFixture.group)
        fixture.running.tasks = [fixture.base.task(1)]
        fixture.source.current.externalPower = Reading(true)
        _ = conditions.conditionsChanged()
        fixture.runtime.advance(milliseconds: 10_000)
        #expect(fixture.holds.groups[ConditionsFixture.group]?.mayStart == true)
    }

    @Test("when the network changes, delayed tasks are evaluated again")
    func otherNetwork() {
        _ = conditions.note(ConditionsFixture.group)
        fixture.running.tasks = [fixture.base.task(1)]
        fixture.parts.monitor.need(.network)
        fixture.source.current.network = Reading(Network(name: "home", kind: .wifi))
        _ = conditions.conditionsChanged()
        fixture.source.current.network = Reading(Network(name: "phone", kind: .cellular))
        #expect(conditions.conditionsChanged().has(\.isReevaluateDelayed))
    }

    @Test("holds are not evaluated after the controller was closed")
    func closed() {
        _ = conditions.note(ConditionsFixture.group)
        conditions.close()
        #expect(conditions.reconsider().isEmpty)
        #expect(conditions.prune().isEmpty)
        #expect(conditions.clockWasSet().isEmpty)
    }

    @Test("the holds of an activity are unknown until its conditions are read")
    func activity() {
        var stated = Constraints()
        stated.preset = .discretionary
        let constraints = EffectiveConstraints(session: stated)
        #expect(conditions.holds(for: constraints, of: EngineFixture.session).holds == nil)
        fixture.parts.monitor.need(constraints.neededAtStart(isLocal: false))
        #expect(conditions.holds(for: constraints, of: EngineFixture.session).holds?.isEmpty == true)
    }

    // MARK: Sleep

    private final class Saved {
        var isSaved = false
    }

    private func aboutToSleep(_ saved: Saved) -> SleepController {
        let sleep = SleepController(fixture.runtime, fixture.parts.monitor, isSaved: { saved.isSaved })
        fixture.parts.monitor.need(.sleep)
        fixture.source.current.isPreparingForSleep = Reading(true)
        _ = conditions.conditionsChanged()
        return sleep
    }

    @Test("after the tasks have stopped, the system is notified one time that it may sleep")
    func sleeps() {
        let saved = Saved()
        let sleep = aboutToSleep(saved)
        sleep.consider()
        #expect(fixture.source.readyToSleepCount == 0)
        saved.isSaved = true
        sleep.consider()
        sleep.consider()
        #expect(fixture.source.readyToSleepCount == 1)
    }

    @Test("the system waits at most four seconds for the tasks before it sleeps")
    func timeLimit() {
        let sleep = aboutToSleep(Saved())
        sleep.consider()
        fixture.runtime.advance(milliseconds: 3_999)
        #expect(fixture.source.readyToSleepCount == 0)
        fixture.runtime.advance(milliseconds: 1)
        #expect(fixture.source.readyToSleepCount == 1)
        withExtendedLifetime(sleep) {}
    }
}
