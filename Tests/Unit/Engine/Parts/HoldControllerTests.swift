import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Constraint groups")
struct HoldControllerTests {
    let fixture = ConditionsFixture()
    var holds: HoldController { fixture.holds }
    let group = ConditionsFixture.group

    /// Judges the group by the current conditions.
    private func judge() -> [EngineEffect] { fixture.conditions.reconsider() }

    private func needPower() {
        fixture.configure { $0.constraints.requiresExternalPower = true }
        #expect(holds.add(group))
    }

    @Test("without constraints may start at once, and their lanes are loaded")
    func free() {
        #expect(holds.setWaiting([.session], in: ConditionsFixture.lane, isAll: false) == [.session])
        #expect(holds.add(group))
        #expect(judge().waiting == [[1]])
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("are added once")
    func known() {
        #expect(holds.add(group))
        #expect(!holds.add(group))
    }

    @Test("whose constraints were not read from the store are not judged")
    func unread() {
        let stated = ConstraintGroup(session: group.session, constraints: .init(rawValue: 7), networkScope: .uplink)
        #expect(!holds.add(stated))
        holds.add([StoredConstraints(id: stated.constraints, session: group.session, constraints: TaskConstraints())])
        #expect(holds.add(stated))
    }

    @Test("start no task before their conditions are read")
    func pending() {
        fixture.source.pending = .power
        needPower()
        #expect(judge().deferred.isEmpty)
        #expect(holds.groups[group]?.mayStart == false)
        fixture.source.pending = []
        fixture.source.current.externalPower = Reading(true)
        _ = judge()
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("that become held stop their running tasks and unload their ready ones, once")
    func held() {
        fixture.makeReady(fixture.base.task(1))
        needPower()
        fixture.source.current.externalPower = Reading(false)
        #expect(judge().deferred == [.constraintGroup(group)])
        #expect(fixture.scheduler.ready.isEmpty)
        #expect(holds.waits(ConditionsFixture.laneGroup))
        #expect(holds.groups[group]?.held?.first?.reason == .power)
        #expect(judge().deferred.isEmpty)
    }

    @Test("hold a lane only while tasks wait in it")
    func holding() {
        needPower()
        fixture.source.current.externalPower = Reading(false)
        _ = judge()
        #expect(!holds.isHeld(ConditionsFixture.laneGroup, in: group))
        holds.recordWaiting(fixture.base.task(1))
        #expect(holds.isHeld(ConditionsFixture.laneGroup, in: group))
    }

    @Test("are released with the lanes in which their tasks wait")
    func released() {
        needPower()
        fixture.source.current.externalPower = Reading(false)
        _ = judge()
        #expect(holds.setWaiting([.session], in: ConditionsFixture.lane, isAll: true) == [.session])
        fixture.source.current.externalPower = Reading(true)
        // External power counts only after ten seconds.
        _ = fixture.conditions.conditionsChanged()
        #expect(holds.groups[group]?.held != nil)
        fixture.runtime.advance(milliseconds: 10_000)
        #expect(fixture.runtime.takeEffects().waiting.contains([1]))
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("that get a second reason stop their tasks again, because probes may run")
    func secondReason() {
        fixture.configure {
            $0.constraints.requiresExternalPower = true
            $0.constraints.maximumThermalState = .nominal
        }
        #expect(holds.add(group))
        fixture.source.current.externalPower = Reading(false)
        #expect(judge().deferred.count == 1)
        fixture.source.current.thermalState = Reading(.critical)
        #expect(fixture.conditions.conditionsChanged().deferred.count == 1)
        #expect(holds.groups[group]?.held?.reasons == [.power, .heat])
    }

    @Test("that are held are excluded from a load")
    func leftOut() {
        needPower()
        fixture.source.current.externalPower = Reading(false)
        _ = judge()
        #expect(holds.beginLoad(of: ConditionsFixture.lane.id) == [.session])
        #expect(holds.isLoading)
        holds.endLoad(of: ConditionsFixture.lane.id)
        #expect(!holds.isLoading)
    }

    @Test("of a session are judged again when its constraints change")
    func configured() {
        #expect(holds.add(group))
        _ = judge()
        fixture.configure { $0.constraints.requiresExternalPower = true }
        fixture.source.current.externalPower = Reading(false)
        #expect(fixture.conditions.configurationChanged(of: group.session).deferred == [.constraintGroup(group)])
        let other = ConstraintGroup(session: group.session, constraints: .session, networkScope: .loopback)
        #expect(holds.groups[other] == nil)
    }

    @Test("without tasks are removed, and their conditions are not read any more")
    func pruned() {
        needPower()
        fixture.source.current.externalPower = Reading(true)
        _ = judge()
        #expect(fixture.source.needs == .power)
        _ = fixture.conditions.prune()
        #expect(holds.groups.isEmpty)
        #expect(fixture.source.needs.isEmpty)
    }

    @Test("with running, ready or waiting tasks are kept")
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

    @Test("in a slow lane stop at once, and the lane is loaded again when it is fast enough")
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

    @Test("are removed with their session")
    func forgotten() {
        needPower()
        holds.forget(group.session)
        #expect(holds.groups.isEmpty)
    }
}
