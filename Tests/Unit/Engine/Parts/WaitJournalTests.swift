import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Wait records")
struct WaitJournalTests {
    let runtime = FakeRuntime()
    let journal: WaitJournal
    let scope = WaitScope(SessionID(rawValue: 1))
    let hold = Hold(.power, "waits for power")
    let subject = WaitSubject.route(LaneID(rawValue: 1))

    init() { journal = WaitJournal(runtime) }

    private func inherited(_ id: UInt64, _ reason: WaitReason = .power) -> OpenWait {
        OpenWait(
            id: WaitID(rawValue: id), scope: scope, reason: reason, sentence: "", beganMilliseconds: Int64(id))
    }

    @Test("a wait record ends in the store when the wait ends")
    func ends() throws {
        journal.begin(subject, [scope], hold)
        try runtime.storeReturns(WaitID(rawValue: 5))
        journal.end(subject)
        #expect(runtime.pendingStoreCalls == 1)
        journal.end(subject)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("if a wait ends before its record is stored, the record ends immediately after it is stored")
    func endsEarly() throws {
        journal.begin(subject, [scope], hold)
        journal.end(subject)
        #expect(runtime.pendingStoreCalls == 1)
        try runtime.storeReturns(WaitID(rawValue: 5))
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("if a wait record could not be stored, its end is not stored")
    func lost() throws {
        journal.begin(subject, [scope], hold)
        try runtime.storeReturns(Result<WaitID, Failure>.failure(Failure(.storeFull, "no space")))
        journal.end(subject)
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("if the reason of a wait changes, its record ends, and another record begins")
    func otherReason() throws {
        journal.begin(subject, [scope], hold)
        try runtime.storeReturns(WaitID(rawValue: 5))
        journal.begin(subject, [scope], Hold(.heat, "waits for a cooler machine"))
        #expect(runtime.storeAwaits(Void.self))
        #expect(runtime.pendingStoreCalls == 2)
    }

    @Test("a wait record of an earlier engine continues if the same wait begins again")
    func inherits() {
        journal.inherit([inherited(7)])
        journal.begin(subject, [scope], hold)
        #expect(journal.began(subject) == 7)
        runtime.advance(milliseconds: 60_000)
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("an earlier engine's wait record ends after five seconds without a wait, and a duplicate record ends at once")
    func endsInherited() {
        journal.inherit([inherited(7), inherited(8)])
        #expect(runtime.pendingStoreCalls == 1)
        runtime.advance(milliseconds: 4_999)
        #expect(runtime.pendingStoreCalls == 1)
        runtime.advance(milliseconds: 1)
        #expect(runtime.pendingStoreCalls == 2)
    }
}
