import BackhaulModel
import BackhaulStore
import Testing

@testable import BackhaulEngine

@Suite("The writer of tasks' ends")
struct EndingWriterTests {
    let runtime = FakeRuntime()
    let writer: EndingWriter

    init() { writer = Self.writer(runtime, runningTasks: 100) }

    private static func writer(_ runtime: FakeRuntime, runningTasks: Int) -> EndingWriter {
        EndingWriter(runtime, EventPublisher(runtime, ClientRegistry()), runningTasks: { runningTasks })
    }

    private func ending(_ task: UInt64, session: UInt64 = 1, hasSentUnrepeatableRequest: Bool = false) -> Ending {
        Ending(
            end: TaskEnd(TaskID(rawValue: task), Outcome(state: .succeeded)), attempt: 1,
            session: SessionID(rawValue: session), hasSentUnrepeatableRequest: hasSentUnrepeatableRequest, also: nil)
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
    private func write(_ task: UInt64, _ writer: EndingWriter) {
        writer.write(ending(task))
        runtime.endIteration()
    }

    /// Writes so many ends that further ends are expected. None of these ends may be delayed.
    private func writeExpectedEnds(_ writer: EndingWriter) {
        for task in 1...UInt64(EndingForecast.fewestEnds) { write(task, writer) }
        #expect(runtime.pendingDelays == Array(repeating: false, count: EndingForecast.fewestEnds))
    }

    @Test("while many tasks end, the store may delay an end")
    func delayed() throws {
        writeExpectedEnds(writer)
        #expect(writer.expectsFurtherEnds)
        write(9, writer)
        #expect(runtime.pendingDelays.last == true)
        runtime.advance(milliseconds: EndingForecast.periodMilliseconds + 1)
        #expect(!writer.expectsFurtherEnds)
        write(10, writer)
        #expect(runtime.pendingDelays.last == false)
    }

    @Test("if few other tasks run, the store writes each end without delay")
    func few() throws {
        // Eight ends are being written, and one end waits. So seven other tasks run.
        let writer = Self.writer(runtime, runningTasks: EndingForecast.fewestEnds + EndingForecast.fewestOtherTasks)
        writeExpectedEnds(writer)
        write(9, writer)
        #expect(runtime.pendingDelays.last == false)
    }

    @Test("the store writes the end of a request that must not be repeated without delay")
    func unrepeatable() throws {
        writeExpectedEnds(writer)
        writer.write(ending(9))
        writer.write(ending(10, session: 2, hasSentUnrepeatableRequest: true))
        runtime.endIteration()
        #expect(runtime.pendingDelays.suffix(2) == [false, false])
    }

    @Test("a flush writes each waiting end one time and without delay")
    func flush() throws {
        writeExpectedEnds(writer)
        writer.write(ending(9))
        writer.write(ending(10))
        writer.flush()
        #expect(runtime.pendingDelays.suffix(1) == [false])
        runtime.endIteration()
        for _ in 0...EndingForecast.fewestEnds { try runtime.storeReturns(nil as Change?) }
        #expect(takeEnded().last == [9, 10])
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
