import BackhaulModel

@testable import BackhaulStore

/// Helpers for tests of earliest and latest starts. The wall clock is at 20,000 ms, the boot clock at 10,000 ms.
extension TestStore {
    func enqueue(
        _ session: SessionID, earliest: Int64? = nil, latest: Int64? = nil, number: Int = 1,
        _ change: (inout Request) -> Void = { _ in }
    ) throws -> EnqueuedTasks {
        let request = Request.numbered(number) { request in
            request.options.earliestStartMilliseconds = earliest
            request.options.latestStartMilliseconds = latest
            change(&request)
        }
        let clock = ClockReading(wall: 20_000, boot: 10_000, bootID: "b")
        return try run { transaction in
            _ = try transaction.delays.adopt(clock)
            return try transaction.tasks.enqueue([(request, .example)], in: session, now: 20_000, clock: clock)
        }
    }
}
