import BackhaulModel
import BackhaulStore
import Testing

@testable import BackhaulEngine

/// The writer stores the *ends* (results) of tasks. It writes the ends of one iteration of the engine's event loop
/// together. While many tasks run, it also writes the ends of a few milliseconds together.
@Suite("The writer of tasks' ends")
struct EndingWriterTests {
    let runtime = FakeRuntime()
    let writer: EndingWriter

    init() { writer = EndingWriter(runtime, EventPublisher(runtime, ClientRegistry()), mayWait: { $0 < 3 }) }

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

    /// Writes an end, and ends the loop iteration.
    private func write(_ task: UInt64) {
        writer.write(ending(task))
        runtime.endIteration()
    }

    @Test("if the last write was a pause ago, an end is written after its loop iteration")
    func nextIteration() throws {
        write(1)
        runtime.advance(milliseconds: EndingWriter.pauseMilliseconds)
        write(2)
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1], [2]])
    }

    @Test("while other tasks run, the ends within a pause after a write are written in one transaction")
    func pause() throws {
        write(1)
        write(2)
        runtime.advance(milliseconds: EndingWriter.pauseMilliseconds - 1)
        write(3)
        #expect(runtime.pendingStoreCalls == 1)
        runtime.advance(milliseconds: 1)
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1], [2, 3]])
    }

    @Test("an end that may not wait is written after its loop iteration")
    func urgent() throws {
        write(1)
        for task in [2, 3, 4] as [UInt64] { writer.write(ending(task)) }
        runtime.endIteration()
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1], [2, 3, 4]])
    }

    @Test("if as many ends wait as fill a transaction, they are written after their loop iteration")
    func full() throws {
        let runtime = FakeRuntime()
        let writer = EndingWriter(runtime, EventPublisher(runtime, ClientRegistry()), mayWait: { _ in true })
        for task in 1...UInt64(EndingWriter.endsOfFullTransaction + 1) {
            writer.write(ending(task))
            runtime.endIteration()
        }
        #expect(runtime.pendingStoreCalls == 2)
    }

    @Test("a flush writes the waiting ends one time")
    func flush() throws {
        write(1)
        write(2)
        writer.flush()
        runtime.advance(milliseconds: EndingWriter.pauseMilliseconds)
        #expect(runtime.pendingStoreCalls == 2)
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
