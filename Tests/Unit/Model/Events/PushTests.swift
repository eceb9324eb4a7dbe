import BackhaulModel
import Testing

@Suite("Pushing events within a credit")
struct PushTests {
    private func event(_ number: UInt64, _ bytes: Int = 0) -> Event {
        var task = EndedTask(
            id: TaskID(rawValue: number), url: "", idempotencyKey: nil, userData: nil,
            outcome: Outcome(state: .cancelled))
        task.userData = [UInt8](repeating: 0, count: bytes)
        return Event(id: id(number), round: 1, timeMilliseconds: 0, kind: .taskEnded(task))
    }

    private func id(_ number: UInt64) -> EventID { EventID(rawValue: number) }

    @Test("no event is lost, reordered or returned again, in any order of steps", arguments: 0..<100)
    func anyOrder(seed: Int) {
        var world = PushWorld(seed: UInt64(seed))
        for _ in 0..<1_000 { world.step() }
        world.finish()
        #expect(world.complaints.prefix(3) == [])
    }

    @Test("the random orders cover polls from pushes, polls from the store, and refusals")
    func anyOrderHasAll() {
        var (byPush, byStore, refusals) = (0, 0, 0)
        for seed in 0..<20 {
            var world = PushWorld(seed: UInt64(seed))
            for _ in 0..<1_000 { world.step() }
            byPush += world.answered.byPush
            byStore += world.answered.byStore
            refusals += world.answered.refusals
        }
        #expect(byPush > 100)
        #expect(byStore > 100)
        #expect(refusals > 10)
    }

    @Test("without a credit no event is pushed")
    func noCredit() {
        var window = PushWindow(newest: .zero)
        #expect(!window.takes)
        #expect(window.push([event(1)], after: .zero, through: id(1)) == nil)
        window.grant(EventCredit(after: .zero))
        #expect(window.wantsMore)
    }

    @Test("a window takes as many events as granted, and more after the client has returned some")
    func count() {
        var window = PushWindow(newest: .zero)
        window.grant(EventCredit(after: .zero, events: 3, bytes: 100_000))
        let push = window.push((1...5).map { event($0) }, after: .zero, through: id(5))
        #expect(push?.events.map(\.id) == [id(1), id(2), id(3)])
        #expect(push?.through == id(3))
        #expect(!window.takes)
        window.grant(EventCredit(after: id(2), events: 3, bytes: 100_000))
        #expect(window.room == 2)
        #expect(window.push([event(4), event(5)], after: id(3), through: id(5))?.through == id(5))
    }

    @Test("a window takes as many bytes as granted, or one larger event")
    func bytes() {
        var window = PushWindow(newest: .zero)
        window.grant(EventCredit(after: .zero, events: 10, bytes: 1_000))
        #expect(window.push([event(1, 5_000), event(2)], after: .zero, through: id(2))?.through == id(1))
        #expect(!window.takes)
    }

    @Test("a credit is limited to what a handle may buffer")
    func bounds() {
        var window = PushWindow(newest: .zero)
        window.grant(EventCredit(after: .zero, events: .max, bytes: .max))
        #expect(window.room == Int(EventCredit.eventLimit))
        let push = window.push((1...9).map { event($0, 60_000) }, after: .zero, through: id(9))
        #expect(push?.through == id(4))
    }

    @Test("events after a gap are not pushed, and are read from the store")
    func gap() {
        var window = PushWindow(newest: .zero)
        window.grant(EventCredit(after: .zero))
        #expect(window.push([event(5)], after: id(4), through: id(5)) == nil)
        #expect(window.wantsMore)
    }

    @Test("a client buffers a limited number of pushed events")
    func greedyEngine() {
        var cache = EventCache()
        cache.pushed((1...5_000).map { event($0) }, after: .zero, through: id(9_000))
        #expect(cache.count == Int(EventCredit.eventLimit))
        #expect(cache.through == id(1_024))
        var other = EventCache()
        other.pushed((1...50).map { event($0, 60_000) }, after: .zero, through: id(50))
        #expect(other.count < 10)
    }

    @Test("a poll gets pushed events only if they follow its cursor; others go to the store")
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

    @Test("a batch of pushed events is as large as one from the store")
    func full() {
        var cache = EventCache()
        cache.pushed([event(1), event(2)], after: .zero, through: id(2))
        #expect(cache.take(after: .zero, maximum: 9, newest: id(3)) == nil)
        #expect(cache.take(after: .zero, maximum: 2, newest: id(3))?.more == true)
    }

    @Test("a cursor beyond all events hides no later events")
    func cursorBeyondAll() {
        var cache = EventCache()
        cache.pushed([event(1)], after: .zero, through: id(1))
        cache.polled(after: id(9), [], more: false, newest: id(1))
        cache.polled(after: id(1), [], more: false, newest: id(1))
        cache.pushed([event(2), event(10)], after: id(1), through: id(10))
        #expect(cache.take(after: id(1), maximum: 9, newest: id(10))?.events.map(\.id) == [id(2), id(10)])
    }

    @Test("a push after a gap is ignored")
    func pushWithGap() {
        var cache = EventCache()
        cache.pushed([event(5)], after: id(4), through: id(5))
        #expect(cache.count == 0)
        #expect(cache.through == .zero)
    }

    @Test("a credit is renewed when half of it is used")
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
