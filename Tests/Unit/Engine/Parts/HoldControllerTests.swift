import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The tasks of a *constraint group* belong to one session and have the same demands on the system (*constraints*). A
/// group is *held* while the system does not meet these demands. A *probe* is a task that runs although its group is
/// held, to test a server or the network. To *load* a lane is to read its next tasks from the store, which is the
/// database. The loaded tasks are *ready*.
@Suite("Constraint groups")
struct HoldControllerTests {
    let fixture = ConditionsFixture()
    var holds: HoldController { fixture.holds }
    let group = ConditionsFixture.group

    /// Evaluates the constraint groups with the current conditions.
    private func evaluate() -> [EngineEffect] { fixture.conditions.reconsider() }

    private func needPower() {
        fixture.configure { $0.constraints.requiresExternalPower = true }
        #expect(holds.add(group))
    }

    @Test("a constraint group without constraints may start immediately, and the lanes of its tasks are loaded")
    func free() {
        #expect(holds.setWaiting([.session], in: ConditionsFixture.lane, isAll: false) == [.session])
        #expect(holds.add(group))
        #expect(evaluate().waiting == [[1]])
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("a constraint group is added only once")
    func known() {
        #expect(holds.add(group))
        #expect(!holds.add(group))
    }

    @Test("a constraint group is not added before its constraints are read from the store")
    func unread() {
        let stated = ConstraintGroup(session: group.session, constraints: .init(rawValue: 7), networkScope: .uplink)
        #expect(!holds.add(stated))
        holds.add([StoredConstraints(id: stated.constraints, session: group.session, constraints: TaskConstraints())])
        #expect(holds.add(stated))
    }

    @Test("a constraint group starts no task before its conditions are read")
    func pending() {
        fixture.source.pending = .power
        needPower()
        #expect(evaluate().deferred.isEmpty)
        #expect(holds.groups[group]?.mayStart == false)
        fixture.source.pending = []
        fixture.source.current.externalPower = Reading(true)
        _ = evaluate()
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("when a constraint group becomes held, its running tasks stop and its ready tasks are unloaded one time")
    func held() {
        fixture.makeReady(fixture.base.task(1))
        needPower()
        fixture.source.current.externalPower = Reading(false)
        #expect(evaluate().deferred == [.constraintGroup(group)])
        #expect(fixture.scheduler.ready.isEmpty)
        #expect(holds.waits(ConditionsFixture.laneGroup))
        #expect(holds.groups[group]?.held?.first?.reason == .power)
        #expect(evaluate().deferred.isEmpty)
    }

    @Test("a held constraint group delays a lane only while tasks of the group wait in the lane")
    func holding() {
        needPower()
        fixture.source.current.externalPower = Reading(false)
        _ = evaluate()
        #expect(!holds.isHeld(ConditionsFixture.laneGroup, in: group))
        holds.recordWaiting(fixture.base.task(1))
        #expect(holds.isHeld(ConditionsFixture.laneGroup, in: group))
    }

    @Test("when a constraint group is released, the lanes in which its tasks wait are loaded")
    func released() {
        needPower()
        fixture.source.current.externalPower = Reading(false)
        _ = evaluate()
        #expect(holds.setWaiting([.session], in: ConditionsFixture.lane, isAll: true) == [.session])
        fixture.source.current.externalPower = Reading(true)
        // External power counts only after it has lasted for ten seconds.
        _ = fixture.conditions.conditionsChanged()
        #expect(holds.groups[group]?.held != nil)
        fixture.runtime.advance(milliseconds: 10_000)
        #expect(fixture.runtime.takeEffects().waiting.contains([1]))
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("when a held constraint group gets a second reason to wait, a probe of the group is stopped")
    func secondReason() {
        fixture.configure {
            $0.constraints.requiresExternalPower = true
            $0.constraints.maximumThermalState = .nominal
        }
        #expect(holds.add(group))
        fixture.source.current.externalPower = Reading(false)
        #expect(evaluate().deferred.count == 1)
        fixture.source.current.thermalState = Reading(.critical)
        #expect(fixture.conditions.conditionsChanged().deferred.count == 1)
        #expect(holds.groups[group]?.held?.reasons == [.power, .heat])
    }

    @Test("a load of a lane does not include the tasks of held constraint groups")
    func leftOut() {
        needPower()
        fixture.source.current.externalPower = Reading(false)
        _ = evaluate()
        #expect(holds.beginLoad(of: ConditionsFixture.lane.id) == [.session])
        #expect(holds.isLoading)
        holds.endLoad(of: ConditionsFixture.lane.id)
        #expect(!holds.isLoading)
    }

    @Test("the constraint groups of a session are evaluated again when the session's constraints change")
    func configured() {
        #expect(holds.add(group))
        _ = evaluate()
        fixture.configure { $0.constraints.requiresExternalPower = true }
        fixture.source.current.externalPower = Reading(false)
        #expect(fixture.conditions.configurationChanged(of: group.session).deferred == [.constraintGroup(group)])
        let other = ConstraintGroup(session: group.session, constraints: .session, networkScope: .loopback)
        #expect(holds.groups[other] == nil)
    }

    @Test("a constraint group without tasks is removed, and its conditions are no longer read")
    func pruned() {
        needPower()
        fixture.source.current.externalPower = Reading(true)
        _ = evaluate()
        #expect(fixture.source.needs == .power)
        _ = fixture.conditions.prune()
        #expect(holds.groups.isEmpty)
        #expect(fixture.source.needs.isEmpty)
    }

    @Test("a constraint group with running or waiting tasks is kept")
    func kept() {
        needPower()
        fixture.running.tasks = [fixture.base.task(1)]
        _ = fixture.conditions.prune()
        #expect(holds.groups[group] != nil)
        fixture.running.tasks = []
        _ = holds.setWaiting([.session], in: ConditionsFixture.lane, isAll: false)
        _ = fixture.conditions.prune()
        #expect(holds.groups[group] != nil)
    }

    @Test("the tasks for a slow server stop immediately, and are loaded again when the server is fast enough")
    func slow() {
        let key = ConditionsFixture.laneGroup
        fixture.makeReady(fixture.base.task(1))
        #expect(holds.setSlow(key, Hold(.throughput, "slow")).deferred == [.laneGroup(key, excludesProbes: false)])
        #expect(fixture.scheduler.ready.isEmpty)
        #expect(holds.beginLoad(of: key.lane) == [.session])
        #expect(holds.hold(of: key, in: group)?.reason == .throughput)
        let again = holds.setSlow(key, Hold(.throughput, "still slow")).deferred
        #expect(again == [.laneGroup(key, excludesProbes: true)], "its probe continues")
        #expect(holds.setSlow(key, nil).waiting == [[1]])
        #expect(holds.setSlow(key, nil).isEmpty)
    }

    @Test("the constraint groups of a session are removed with the session")
    func forgotten() {
        needPower()
        holds.forget(group.session)
        #expect(holds.groups.isEmpty)
    }
}
