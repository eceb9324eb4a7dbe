import BackhaulModel
import Testing

/// The engine *pushes* an event if it sends the event before the client polls. A *gap* is a missing event.
@Suite("Events that the engine pushes within a credit")
struct PushTests {
    private func event(_ number: UInt64, _ bytes: Int = 0) -> Event {
        var task = EndedTask(
            id: TaskID(rawValue: number), url: "", idempotencyKey: nil, userData: nil,
            outcome: Outcome(state: .cancelled))
        task.userData = [UInt8](repeating: 0, count: bytes)
        return Event(id: id(number), round: 1, timeMilliseconds: 0, kind: .taskEnded(task))
    }

    private func id(_ number: UInt64) -> EventID { EventID(rawValue: number) }

    @Test(
        "in random steps, no event is lost or reordered, and no event is returned after its acknowledgement",
        arguments: 0..<100)
    func anyOrder(seed: Int) {
        var simulation = PushSimulation(seed: UInt64(seed))
        for _ in 0..<1_000 { simulation.step() }
        simulation.finish()
        #expect(simulation.violations.prefix(3) == [])
    }

    @Test("the random steps include polls that return pushed events or stored events, and failed acknowledgements")
    func anyOrderHasAll() {
        var (byPush, byStore, refusals) = (0, 0, 0)
        for seed in 0..<20 {
            var simulation = PushSimulation(seed: UInt64(seed))
            for _ in 0..<1_000 { simulation.step() }
            byPush += simulation.counts.byPush
            byStore += simulation.counts.byStore
            refusals += simulation.counts.refusals
        }
        #expect(byPush > 100)
        #expect(byStore > 100)
        #expect(refusals > 10)
    }

    @Test("without a credit, the engine pushes no event")
    func noCredit() {
        var credit = PushCredit(newest: .zero)
        #expect(!credit.canPush)
        #expect(credit.push([event(1)], after: .zero, through: id(1)) == nil)
        credit.grant(EventCredit(after: .zero))
        #expect(credit.wantsMore)
    }

    @Test("the engine pushes as many events as the credit grants, and more events when the credit is renewed")
    func count() {
        var credit = PushCredit(newest: .zero)
        credit.grant(EventCredit(after: .zero, events: 3, bytes: 100_000))
        let push = credit.push((1...5).map { event($0) }, after: .zero, through: id(5))
        #expect(push?.events.map(\.id) == [id(1), id(2), id(3)])
        #expect(push?.through == id(3))
        #expect(!credit.canPush)
        credit.grant(EventCredit(after: id(2), events: 3, bytes: 100_000))
        #expect(credit.room == 2)
        #expect(credit.push([event(4), event(5)], after: id(3), through: id(5))?.through == id(5))
    }

    @Test("the engine pushes as many bytes as the credit grants, or one event that is larger than the credit")
    func bytes() {
        var credit = PushCredit(newest: .zero)
        credit.grant(EventCredit(after: .zero, events: 10, bytes: 1_000))
        #expect(credit.push([event(1, 5_000), event(2)], after: .zero, through: id(2))?.through == id(1))
        #expect(!credit.canPush)
    }

    @Test("the engine reduces a large credit to the events and bytes that a session's client may buffer")
    func bounds() {
        var credit = PushCredit(newest: .zero)
        credit.grant(EventCredit(after: .zero, events: .max, bytes: .max))
        #expect(credit.room == Int(EventCredit.eventLimit))
        let push = credit.push((1...9).map { event($0, 60_000) }, after: .zero, through: id(9))
        #expect(push?.through == id(4))
    }

    @Test("if an event is missing, the engine does not push the later events; it must first read from the store")
    func gap() {
        var credit = PushCredit(newest: .zero)
        credit.grant(EventCredit(after: .zero))
        #expect(credit.push([event(5)], after: id(4), through: id(5)) == nil)
        #expect(credit.wantsMore)
    }

    @Test("a client limits the number and the total size of the pushed events that it buffers")
    func greedyEngine() {
        var cache = EventCache()
        cache.pushed((1...5_000).map { event($0) }, after: .zero, through: id(9_000))
        #expect(cache.count == Int(EventCredit.eventLimit))
        #expect(cache.through == id(1_024))
        var other = EventCache()
        other.pushed((1...50).map { event($0, 60_000) }, after: .zero, through: id(50))
        #expect(other.count < 10)
    }

    @Test("a poll returns pushed events only if they follow the poll's cursor, and other polls go to the store")
    func cursors() {
        var cache = EventCache()
        cache.pushed([event(1), event(2)], after: .zero, through: id(2))
        let first = cache.take(after: .zero, maximum: 1, newest: id(2))
        #expect(first?.events.map(\.id) == [id(1)])
        #expect(first?.more == true)
        #expect(cache.take(after: .zero, maximum: 1, newest: id(2)) == nil)
        #expect(cache.take(after: id(1), maximum: 9, newest: id(2))?.more == false)
        #expect(cache.take(after: id(2), maximum: 9, newest: id(2)) == nil, "only the store knows the end")
    }

    @Test("a poll returns pushed events only if the store would not return more events")
    func full() {
        var cache = EventCache()
        cache.pushed([event(1), event(2)], after: .zero, through: id(2))
        #expect(cache.take(after: .zero, maximum: 9, newest: id(3)) == nil)
        #expect(cache.take(after: .zero, maximum: 2, newest: id(3))?.more == true)
    }

    @Test("after a poll with a cursor beyond all events, later events are still returned")
    func cursorBeyondAll() {
        var cache = EventCache()
        cache.pushed([event(1)], after: .zero, through: id(1))
        cache.polled(after: id(9), [], more: false, newest: id(1))
        cache.polled(after: id(1), [], more: false, newest: id(1))
        cache.pushed([event(2), event(10)], after: id(1), through: id(10))
        #expect(cache.take(after: id(1), maximum: 9, newest: id(10))?.events.map(\.id) == [id(2), id(10)])
    }

    @Test("after a new round has begun, a poll does not return the pushed end of the last round")
    func withdrawnEnd() {
        var cache = EventCache()
        let end = Event(id: id(2), round: 1, timeMilliseconds: 0, kind: .sessionFinished)
        cache.pushed([event(1), end], after: .zero, through: id(2))
        cache.endWithdrawn()
        let taken = cache.take(after: .zero, maximum: 9, newest: id(2))
        #expect(taken?.events.map(\.id) == [id(1)])
        #expect(taken?.more == false)
    }

    @Test("a client ignores pushed events after a gap")
    func pushWithGap() {
        var cache = EventCache()
        cache.pushed([event(5)], after: id(4), through: id(5))
        #expect(cache.count == 0)
        #expect(cache.through == .zero)
    }

    @Test("a client renews its credit when half of the credit is used")
    func renewal() {
        var cache = EventCache()
        #expect(cache.nextCredit(newest: .zero)?.after == .zero)
        cache.pushed((1...600).map { event($0) }, after: .zero, through: id(600))
        _ = cache.take(after: .zero, maximum: 511, newest: id(600))
        #expect(cache.nextCredit(newest: id(600)) == nil)
        _ = cache.take(after: id(511), maximum: 1, newest: id(600))
        #expect(cache.nextCredit(newest: id(600))?.after == id(512))
    }
}
