import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Constraint groups")
struct HoldControllerTests {
    let world = ConditionWorld()
    var holds: HoldController { world.holds }
    let group = ConditionWorld.group

    /// Judges the group by the current conditions.
    private func judge() -> [EngineEffect] { world.conditions.reconsider() }

    private func needPower() {
        world.configure { $0.constraints.requiresExternalPower = true }
        #expect(holds.add(group))
    }

    @Test("without constraints may start at once, and their lanes are loaded")
    func free() {
        #expect(holds.setWaiting([.session], in: ConditionWorld.lane, isAll: false) == [.session])
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
        let stated = ConstraintGroup(session: group.session, constraints: .init(rawValue: 7), reach: .uplink)
        #expect(!holds.add(stated))
        holds.add([StoredConstraints(id: stated.constraints, session: group.session, constraints: TaskConstraints())])
        #expect(holds.add(stated))
    }

    @Test("start no task before their conditions are read")
    func pending() {
        world.source.pending = .power
        needPower()
        #expect(judge().deferred.isEmpty)
        #expect(holds.groups[group]?.mayStart == false)
        world.source.pending = []
        world.source.current.externalPower = Reading(true)
        _ = judge()
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("that become held stop their running tasks and unload their ready ones, once")
    func held() {
        world.makeReady(world.below.task(1))
        needPower()
        world.source.current.externalPower = Reading(false)
        #expect(judge().deferred == [.constraintGroup(group)])
        #expect(world.scheduler.ready.isEmpty)
        #expect(holds.waits(ConditionWorld.laneGroup))
        #expect(holds.groups[group]?.held?.first?.reason == .power)
        #expect(judge().deferred.isEmpty)
    }

    @Test("hold a lane only while tasks wait in it")
    func holding() {
        needPower()
        world.source.current.externalPower = Reading(false)
        _ = judge()
        #expect(!holds.isHeld(ConditionWorld.laneGroup, in: group))
        holds.waitsInStore(world.below.task(1))
        #expect(holds.isHeld(ConditionWorld.laneGroup, in: group))
    }

    @Test("are released with the lanes in which their tasks wait")
    func released() {
        needPower()
        world.source.current.externalPower = Reading(false)
        _ = judge()
        #expect(holds.setWaiting([.session], in: ConditionWorld.lane, isAll: true) == [.session])
        world.source.current.externalPower = Reading(true)
        // External power counts only after ten seconds.
        _ = world.conditions.conditionsChanged()
        #expect(holds.groups[group]?.held != nil)
        world.runtime.advance(milliseconds: 10_000)
        #expect(world.runtime.takeEffects().waiting.contains([1]))
        #expect(holds.groups[group]?.mayStart == true)
    }

    @Test("that get a second reason stop their tasks again, because probes may run")
    func secondReason() {
        world.configure {
            $0.constraints.requiresExternalPower = true
            $0.constraints.maximumThermalState = .nominal
        }
        #expect(holds.add(group))
        world.source.current.externalPower = Reading(false)
        #expect(judge().deferred.count == 1)
        world.source.current.thermalState = Reading(.critical)
        #expect(world.conditions.conditionsChanged().deferred.count == 1)
        #expect(holds.groups[group]?.held?.reasons == [.power, .heat])
    }

    @Test("that are held are excluded from a load")
    func leftOut() {
        needPower()
        world.source.current.externalPower = Reading(false)
        _ = judge()
        #expect(holds.beginLoad(of: ConditionWorld.lane.id) == [.session])
        #expect(holds.isLoading)
        holds.endLoad(of: ConditionWorld.lane.id)
        #expect(!holds.isLoading)
    }

    @Test("of a session are judged again when its constraints change")
    func configured() {
        #expect(holds.add(group))
        _ = judge()
        world.configure { $0.constraints.requiresExternalPower = true }
        world.source.current.externalPower = Reading(false)
        #expect(world.conditions.configurationChanged(of: group.session).deferred == [.constraintGroup(group)])
        let other = ConstraintGroup(session: group.session, constraints: .session, reach: .thisMachine)
        #expect(holds.groups[other] == nil)
    }

    @Test("without tasks are removed, and their conditions are not read any more")
    func pruned() {
        needPower()
        world.source.current.externalPower = Reading(true)
        _ = judge()
        #expect(world.source.needs == .power)
        _ = world.conditions.prune()
        #expect(holds.groups.isEmpty)
        #expect(world.source.needs.isEmpty)
    }

    @Test("with running, ready or waiting tasks are kept")
    func kept() {
        needPower()
        world.running.tasks = [world.below.task(1)]
        _ = world.conditions.prune()
        #expect(holds.groups[group] != nil)
        world.running.tasks = []
        _ = holds.setWaiting([.session], in: ConditionWorld.lane, isAll: false)
        _ = world.conditions.prune()
        #expect(holds.groups[group] != nil)
    }

    @Test("in a slow lane stop at once, and the lane is loaded again when it is fast enough")
    func slow() {
        let key = ConditionWorld.laneGroup
        world.makeReady(world.below.task(1))
        #expect(holds.setSlow(key, Hold(.throughput, "slow")).deferred == [.laneGroup(key, sparesProbes: false)])
        #expect(world.scheduler.ready.isEmpty)
        #expect(holds.beginLoad(of: key.lane) == [.session])
        #expect(holds.hold(of: key, in: group)?.reason == .throughput)
        let again = holds.setSlow(key, Hold(.throughput, "still slow")).deferred
        #expect(again == [.laneGroup(key, sparesProbes: true)], "its probe continues")
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
