import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The *usage ledger* counts the transferred bytes for each network.
@Suite("The usage ledger")
struct UsageLedgerTests {
    let runtime = FakeRuntime()
    let ledger: UsageLedger
    let session = SessionID(rawValue: 1)

    init() { ledger = UsageLedger(runtime, count: { [] }) }

    private func add(_ bytes: UInt64, hasBudget: Bool = false) {
        ledger.add(bytes, on: "wlan", by: session, day: 1, hasBudget: hasBudget)
    }

    @Test("the usage ledger is saved ten seconds after the first byte")
    func saves() throws {
        add(1)
        runtime.advance(milliseconds: 5_000)
        add(1)
        runtime.advance(milliseconds: 4_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("the usage ledger is saved a second after the first byte that counts against a budget")
    func savesSoon() {
        add(1)
        add(1, hasBudget: true)
        runtime.advance(milliseconds: 1_000)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("when 1 MiB that counts against a budget is unsaved, a save starts, and only one save runs at a time")
    func savesAtOnce() throws {
        add(1 << 20, hasBudget: true)
        add(1 << 20, hasBudget: true)
        #expect(runtime.pendingStoreCalls == 1)
        try runtime.storeReturns(())
        add(1, hasBudget: true)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("if the store could not write the usage ledger, the same bytes are saved again later")
    func savesAgain() throws {
        add(1)
        runtime.advance(milliseconds: 10_000)
        try runtime.storeReturns(Result<Void, Failure>.failure(Failure(.storeFull, "no space")))
        runtime.advance(milliseconds: 10_000)
        #expect(runtime.pendingStoreCalls == 1)
    }
}
