import BackhaulModel
import Testing

@Suite("Holds of constraint groups")
struct HoldsTests {
    typealias Fixture = HoldsFixture

    private func needingPower(_ hasPower: Bool?) -> Fixture {
        var fixture = Fixture { $0.constraints.requiresExternalPower = true }
        fixture.facts.conditions.externalPower = hasPower.map { Reading($0) } ?? Reading()
        return fixture
    }

    @Test("a constraint group without constraints may start immediately, and the lanes of its tasks are loaded")
    func free() {
        var fixture = Fixture()
        #expect(fixture.wait() == [.session], "until the group is judged, its tasks do not start")
        #expect(fixture.begin().loaded == [[1]])
        #expect(fixture.state?.mayStart == true)
    }

    @Test("a constraint group is added only once")
    func known() {
        var fixture = Fixture()
        #expect(fixture.holds.add(Fixture.group, fixture.configuration) == true)
        #expect(fixture.holds.add(Fixture.group, fixture.configuration) == false)
    }

    @Test("a constraint group is not added before its constraints are read from the store")
    func unread() {
        var fixture = Fixture()
        let group = ConstraintGroup(ConstraintsID(rawValue: 7), in: Fixture.lane)
        #expect(fixture.holds.add(group, fixture.configuration) == false)
        fixture.holds.state(TaskConstraints(), as: group.constraints, in: group.session)
        #expect(fixture.holds.add(group, fixture.configuration) == true)
    }

    @Test("before its conditions are read, a constraint group starts no task, and its running tasks continue")
    func pending() {
        var fixture = needingPower(true)
        #expect(fixture.begin().loaded == [[]])
        fixture.facts.read = []
        #expect(fixture.judge() == [.unload(Fixture.tasks)])
        #expect(fixture.judge() == [])
        #expect(fixture.state?.mayStart == false)
        fixture.facts.read = .power
        #expect(fixture.judge().loaded.count == 1)
        #expect(fixture.state?.mayStart == true)
    }

    @Test("a group needs the conditions of its constraints, and the network if it has a budget")
    func needed() {
        var fixture = needingPower(true)
        _ = fixture.begin()
        #expect(fixture.holds.needed([Fixture.group]) { _ in false } == .power)
        #expect(fixture.holds.needed([Fixture.group]) { _ in true } == [.power, .network])
    }

    @Test("when a constraint group becomes held, its tasks stop one time, and its wait begins")
    func held() {
        var fixture = needingPower(false)
        let actions = fixture.begin()
        #expect(actions.stopped == [Fixture.tasks])
        #expect(actions.begun == [.power])
        #expect(fixture.state?.holds.first?.reason == .power)
        #expect(fixture.judge() == [])
    }

    @Test("when a constraint group is released, its wait ends, and the lanes in which its tasks wait are loaded")
    func released() {
        var fixture = needingPower(false)
        _ = fixture.begin()
        #expect(fixture.wait() == [.session])
        fixture.facts.conditions.externalPower = Reading(true)
        let actions = fixture.judge()
        #expect(actions.ended == [Fixture.tasks])
        #expect(actions.loaded == [[1]])
    }

    @Test("a held constraint group delays a lane only while tasks of the group wait in the lane")
    func holding() {
        var fixture = needingPower(false)
        _ = fixture.begin()
        #expect(!fixture.holds.isHeld(Fixture.key, in: Fixture.group))
        fixture.holds.insertWaiting(.session, in: Fixture.lane)
        #expect(fixture.holds.isHeld(Fixture.key, in: Fixture.group))
    }

    @Test("when a held constraint group gets a second reason to wait, a probe of the group is stopped")
    func secondReason() {
        var fixture = needingPower(false)
        fixture.configure { $0.constraints.maximumThermalState = .nominal }
        _ = fixture.begin()
        fixture.facts.conditions.thermalState = Reading(.critical)
        let actions = fixture.judge()
        #expect(actions.stopped.count == 1)
        #expect(actions.begun.isEmpty, "the first reason is still power")
        #expect(fixture.state?.reasons == [.power, .heat])
    }

    @Test("a used-up budget holds a group until the end of the budget's period, except on this machine")
    func budget() throws {
        var fixture = Fixture()
        var usage = ByteUsage()
        let day = BudgetPeriod.dayNumber(at: fixture.facts.wall, localOffsetMilliseconds: { _ in 0 })
        usage.add(2_000, network: "phone", session: Fixture.session, day: day)
        fixture.facts.budgets[Fixture.session] = usage.budgets(
            of: Fixture.session, ByteBudget(daily: 1_000), on: NetworkSettings(name: "phone"), now: fixture.facts.wall,
            localOffsetMilliseconds: { _ in 0 })
        #expect(fixture.begin().begun == [.budget])
        #expect(!fixture.holds.hasTasksWithinBudgets)
        let end = try #require(fixture.facts.budgets[Fixture.session]?.first?.period.endMilliseconds)
        let next = fixture.holds.untilNextCheck(
            after: fixture.facts.boot, boot: fixture.facts.boot, wall: fixture.facts.wall, others: [])
        #expect(next == end - fixture.facts.wall)
        let local = ConstraintGroup(session: Fixture.session, constraints: .session, networkScope: .loopback)
        #expect(fixture.holds.add(local, fixture.configuration) == true)
        _ = fixture.judge()
        #expect(fixture.holds.groups[local]?.mayStart == true)
    }

    @Test("the constraint groups of a session are judged again when the session's constraints change")
    func configured() {
        var fixture = Fixture()
        _ = fixture.begin()
        fixture.facts.conditions.externalPower = Reading(false)
        fixture.configure { $0.constraints.requiresExternalPower = true }
        #expect(fixture.judge().stopped == [Fixture.tasks])
    }

    @Test("groups are judged in a fixed order")
    func ordered() {
        var fixture = needingPower(false)
        for id in [3, 1, 2] as [UInt64] {
            fixture.holds.state(TaskConstraints(), as: ConstraintsID(rawValue: id), in: Fixture.session)
            _ = fixture.holds.add(ConstraintGroup(ConstraintsID(rawValue: id), in: Fixture.lane), fixture.configuration)
        }
        let expected = [1, 2, 3].map { HeldTasks.constraintGroup(.init(ConstraintsID(rawValue: $0), in: Fixture.lane)) }
        #expect(fixture.judge().stopped == expected)
    }

    // MARK: Loads

    @Test("a load of a lane does not include the tasks of held constraint groups")
    func leftOut() {
        var fixture = needingPower(false)
        _ = fixture.begin()
        #expect(fixture.holds.beginLoad(of: Fixture.lane) == [.session])
        #expect(fixture.holds.waiting.isLoading)
        fixture.holds.endLoad(of: Fixture.lane.id)
        #expect(!fixture.holds.waiting.isLoading)
    }

    @Test("the wait of a held group without tasks ends after a load of the lane")
    func emptied() {
        var fixture = needingPower(false)
        _ = fixture.begin()
        #expect(fixture.holds.forgetEmptyGroups(of: Fixture.lane, running: { [Fixture.group] }) == [])
        #expect(fixture.holds.forgetEmptyGroups(of: Fixture.lane, running: { [] }).ended == [Fixture.tasks])
        #expect(fixture.holds.groups.isEmpty)
    }

    // MARK: Pruning

    private func prune(
        _ fixture: inout Fixture, active: Set<ConstraintGroup> = []
    ) -> (needs: ConditionSet, actions: [HoldAction])? {
        fixture.holds.prune(running: [], active: active, now: fixture.facts.boot)
    }

    @Test("a constraint group without tasks is removed, and its conditions are no longer read")
    func pruned() {
        var fixture = needingPower(true)
        _ = fixture.begin()
        #expect(prune(&fixture, active: [Fixture.group])?.needs == .power)
        #expect(prune(&fixture)?.needs == [])
        #expect(fixture.holds.groups.isEmpty)
    }

    @Test("a constraint group with waiting tasks is kept, and every group is kept while a lane is being loaded")
    func kept() {
        var fixture = needingPower(false)
        _ = fixture.begin()
        let other = Lane(id: LaneID(rawValue: 9), session: Fixture.session, origin: Fixture.origin("a"))
        _ = fixture.holds.beginLoad(of: other)
        #expect(prune(&fixture) == nil)
        fixture.holds.endLoad(of: other.id)
        _ = fixture.wait()
        #expect(prune(&fixture)?.actions.isEmpty == true)
        #expect(fixture.state != nil)
        _ = fixture.holds.setWaiting([], in: Fixture.lane, isAll: true)
        #expect(prune(&fixture)?.actions.ended == [Fixture.tasks])
    }

    @Test("when tasks of a group have run for five seconds, the group depends on heat and sleep, too")
    func lasting() {
        var fixture = Fixture()
        _ = fixture.begin()
        for _ in 1...6 {
            fixture.holds.noteBusy(Fixture.group, now: fixture.facts.boot)
            fixture.advance(milliseconds: 1_000)
        }
        #expect(prune(&fixture)?.needs.isSuperset(of: [.heat, .sleep]) == true)
        #expect(fixture.state != nil, "its next tasks may begin soon")
        fixture.advance(milliseconds: 3_000)
        #expect(prune(&fixture)?.needs == [])
    }

    @Test("the constraint groups of a session are removed with the session")
    func forgotten() {
        var fixture = needingPower(false)
        _ = fixture.begin()
        _ = fixture.wait()
        #expect(fixture.holds.forget(Fixture.session).ended == [Fixture.tasks])
        #expect(fixture.holds.groups.isEmpty && fixture.holds.lanesInUse.isEmpty)
    }

    // MARK: The next check

    @Test("without a decision that depends on a clock, there is no next check")
    func noCheck() {
        var fixture = needingPower(false)
        _ = fixture.begin()
        #expect(fixture.holds.untilNextCheck(after: 0, boot: 0, wall: 0, others: [nil]) == nil)
    }

    @Test("the next check is the first of all, but not earlier than 20 ms from now")
    func nextCheck() {
        var fixture = Fixture { $0.constraints.quietHours = QuietHours(spans: [.init(begin: 1_320, end: 1_380)]) }
        #expect(fixture.begin().begun == [.quietHours])
        let wall = fixture.facts.wall
        func next(_ others: Int64?...) -> Int64? {
            fixture.holds.untilNextCheck(after: 0, boot: 0, wall: wall, others: others)
        }
        #expect(next() == 2_800_000, "it is 22:13:20, and the quiet hours end at 23:00")
        #expect(next(1_000, nil) == 1_000)
        #expect(next(-5) == 20)
    }
}
