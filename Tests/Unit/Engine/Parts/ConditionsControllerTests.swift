import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// To *load* tasks is to read them from the database.
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

    @Test("if the configurations of several sessions change in a loop iteration, holds are evaluated once")
    func configurations() {
        for session in [EngineFixture.session, SessionID(rawValue: 2)] {
            conditions.configurationChanged(of: session)
        }
        #expect(conditions.evaluatePlanned().count(\.isDecided) == 1)
        fixture.runtime.endIteration()
        #expect(!fixture.runtime.takeEffects().has(\.isDecided))
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
            if second == 8 { _ = conditions.beginLoad(of: ConditionsFixture.lane.id) }
            _ = conditions.prune()
            conditions.endLoad(of: ConditionsFixture.lane.id)
            fixture.runtime.advance(milliseconds: 1_500)
        }
        _ = conditions.prune()
        #expect(fixture.source.needs.isSuperset(of: [.heat, .sleep]))
    }

    @Test("tasks wait in quiet hours, and this hold depends on the calendar")
    func quietHours() throws {
        fixture.configure { $0.constraints.quietHours = QuietHours(spans: [.init(begin: 0, end: 1_440)]) }
        #expect(conditions.note(ConditionsFixture.group).deferred.count == 1)
        #expect(fixture.holds.groups[ConditionsFixture.group]?.holds.first?.reason == .quietHours)
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

    @Test("a hold ends when power has lasted for ten seconds, and the lanes in which its tasks wait are loaded")
    func released() {
        fixture.configure { $0.constraints.requiresExternalPower = true }
        fixture.source.current.externalPower = Reading(false)
        _ = conditions.note(ConditionsFixture.group)
        conditions.returnedToStore(fixture.base.task(1))
        fixture.source.current.externalPower = Reading(true)
        _ = conditions.conditionsChanged()
        #expect(fixture.holds.groups[ConditionsFixture.group]?.mayStart == false)
        fixture.runtime.advance(milliseconds: 10_000)
        #expect(fixture.runtime.takeEffects().holdActions.contains(.load([ConditionsFixture.lane.id])))
    }

    @Test("the conditions of a group are read before the group is judged, and not after it is removed")
    func needs() {
        fixture.configure { $0.constraints.requiresExternalPower = true }
        _ = conditions.note(ConditionsFixture.group)
        #expect(fixture.source.needs == .power)
        _ = conditions.prune()
        #expect(fixture.source.needs.isEmpty)
    }

    @Test("failures of servers on the local network show nothing about the uplink")
    func localServers() {
        let endings = ["a.local", "b.local", "192.168.0.1"].flatMap { server in
            var task = fixture.base.task(1)
            (task.lane, task.origin) = (LaneID(rawValue: 99), Origin(scheme: "https", server: server, port: 443))
            #expect(!conditions.isUplinkHeld(for: task))
            return conditions.attemptEnded(task, .unreachable)
        }
        #expect(endings.isEmpty)
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
        #expect(conditions.holdsOfActivity(constraints, of: EngineFixture.session).holds == nil)
        fixture.parts.monitor.need(constraints.neededAtStart(isLocal: false))
        #expect(conditions.holdsOfActivity(constraints, of: EngineFixture.session).holds?.isEmpty == true)
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

    private func isReady(_ effects: [EngineEffect]) -> Bool {
        effects.contains { if case .readyToSleep = $0 { true } else { false } }
    }

    @Test("after the tasks have stopped, the system is notified one time that it may sleep")
    func sleeps() {
        let saved = Saved()
        let sleep = aboutToSleep(saved)
        #expect(!isReady(sleep.consider()))
        saved.isSaved = true
        #expect(isReady(sleep.consider()))
        #expect(!isReady(sleep.consider()))
    }

    @Test("the system waits at most four seconds for the tasks before it sleeps")
    func timeLimit() {
        let sleep = aboutToSleep(Saved())
        #expect(!isReady(sleep.consider()))
        fixture.runtime.advance(milliseconds: 3_999)
        #expect(!isReady(fixture.runtime.takeEffects()))
        fixture.runtime.advance(milliseconds: 1)
        #expect(isReady(fixture.runtime.takeEffects()))
        withExtendedLifetime(sleep) {}
    }
}
