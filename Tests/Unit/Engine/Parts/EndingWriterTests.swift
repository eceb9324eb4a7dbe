import BackhaulModel
import BackhaulStore
import Testing

@testable import BackhaulEngine

/// The writer stores the *ends* (results) of tasks. It writes the ends of one iteration of the engine's event loop
/// together.
@Suite("The writer of tasks' ends")
struct EndingWriterTests {
    let runtime = FakeRuntime()
    let writer: EndingWriter

    init() { writer = EndingWriter(runtime, EventPublisher(runtime, ClientRegistry())) }

    private func ending(_ task: UInt64, session: UInt64 = 1) -> Ending {
        Ending(
            end: TaskEnd(TaskID(rawValue: task), Outcome(state: .succeeded)), attempt: 1,
            session: SessionID(rawValue: session), also: nil)
    }

    /// Returns the tasks whose ends are stored, in one list for each transaction.
    private func takeEnded() -> [[UInt64]] {
        runtime.takeEffects().compactMap { effect in
            if case .ended(let endings, _) = effect { endings.map(\.end.task.rawValue) } else { nil }
        }
    }

    @Test("the ends of one loop iteration are written in one transaction for each session")
    func together() throws {
        for (task, session) in [(1, 1), (2, 1), (3, 2)] as [(UInt64, UInt64)] {
            writer.write(ending(task, session: session))
        }
        #expect(runtime.pendingStoreCalls == 0)
        runtime.endIteration()
        #expect(runtime.pendingStoreCalls == 2)
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(Set(takeEnded()) == [[1, 2], [3]])
    }

    @Test("an end of the next loop iteration is written in another transaction")
    func nextIteration() throws {
        writer.write(ending(1))
        runtime.endIteration()
        writer.write(ending(2))
        #expect(runtime.pendingStoreCalls == 1)
        runtime.endIteration()
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1], [2]])
    }

    @Test("if ends cannot be written, the writer returns them, and a retry writes each end in its own transaction")
    func failure() throws {
        writer.write(ending(1))
        writer.write(ending(2))
        runtime.endIteration()
        try runtime.storeReturns(Result<Change?, Failure>.failure(Failure(.storeFull, "no space")))
        let failed = runtime.takeEffects().compactMap { effect -> Ending? in
            if case .notEnded(let ending, _) = effect { ending } else { nil }
        }
        #expect(failed.map(\.end.task.rawValue) == [1, 2])
        for ending in failed { writer.retryWrite(ending) }
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1]])
        #expect(runtime.pendingStoreCalls == 1)
    }
}
