import BackhaulModel
import BackhaulStore
import Testing

@testable import BackhaulEngine

/// The writer stores the *ends* (results) of tasks. It writes the ends of one iteration of the engine's event loop
/// together. While many tasks run, it also writes the ends that come within 10 ms together.
@Suite("The writer of tasks' ends")
struct EndingWriterTests {
    let runtime = FakeRuntime()
    let writer: EndingWriter

    init() { writer = Self.writer(runtime, runningTasks: 100) }

    private static func writer(_ runtime: FakeRuntime, runningTasks: Int) -> EndingWriter {
        EndingWriter(runtime, EventPublisher(runtime, ClientRegistry()), runningTasks: { runningTasks })
    }

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

    @Test("if the last write was at least 10 ms ago, an end is written after its loop iteration")
    func nextIteration() throws {
        write(1)
        runtime.advance(milliseconds: EndingWriter.intervalMilliseconds)
        write(2)
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1], [2]])
    }

    @Test("while many other tasks run, ends that come within 10 ms after a write share one transaction")
    func interval() throws {
        write(1)
        write(2)
        runtime.advance(milliseconds: EndingWriter.intervalMilliseconds - 1)
        write(3)
        #expect(runtime.pendingStoreCalls == 1)
        runtime.advance(milliseconds: 1)
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1], [2, 3]])
    }

    @Test("if eight ends wait, they are written after their loop iteration")
    func full() throws {
        for task in 0...UInt64(EndingWriter.maximumWaiting) { write(task) }
        #expect(runtime.pendingStoreCalls == 2)
    }

    @Test("if few other tasks run, each end is written after its loop iteration")
    func few() throws {
        // Two tasks have ended. The end of the first one is still being written.
        let writer = Self.writer(runtime, runningTasks: EndingWriter.fewestOtherTasks + 1)
        for task in [1, 2] as [UInt64] {
            writer.write(ending(task))
            runtime.endIteration()
        }
        #expect(runtime.pendingStoreCalls == 2)
    }

    @Test("a flush writes each waiting end one time")
    func flush() throws {
        write(1)
        write(2)
        writer.write(ending(3))
        writer.flush()
        runtime.endIteration()
        runtime.advance(milliseconds: EndingWriter.intervalMilliseconds)
        try runtime.storeReturns(nil as Change?)
        try runtime.storeReturns(nil as Change?)
        #expect(takeEnded() == [[1], [2, 3]])
        #expect(runtime.pendingStoreCalls == 0)
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
