import BackhaulModel
import Testing

struct ClockWaitTests {
    private static let later = ClockWait.versionDate + 1

    @Test(
        "a certificate that is not valid yet shows a wrong clock if the clock is old or not synchronised",
        arguments: [
            (0, true, true), (ClockWait.versionDate - 1, true, true), (later, false, true), (0, false, true),
            (later, true, false),
        ] as [(Int64, Bool, Bool)])
    func trust(_ wall: Int64, _ isSynchronised: Bool, _ waits: Bool) {
        var wait = ClockWait()
        let decision = wait.mustWait(wall: wall, isSynchronised: isSynchronised, now: 5)
        #expect(decision == waits)
    }

    @Test("tasks wait for a clock for an hour at most")
    func limit() {
        var wait = ClockWait()
        let waits = [5, 3_600_004, 3_600_005].map { wait.mustWait(wall: 0, isSynchronised: false, now: $0) }
        #expect(waits == [true, true, false])
    }

    @Test("after the clock was right, the hour begins again")
    func again() {
        var wait = ClockWait()
        let readings: [(Int64, Bool, Int64)] = [(0, false, 5), (Self.later, true, 3_600_005), (0, true, 3_600_006)]
        let waits = readings.map { wait.mustWait(wall: $0, isSynchronised: $1, now: $2) }
        #expect(waits == [true, false, true])
    }

    @Test("after an hour without such a certificate, the hour begins again")
    func pause() {
        var wait = ClockWait()
        let waits = [5, 3_600_000, 7_200_001, 10_800_000].map {
            wait.mustWait(wall: 0, isSynchronised: false, now: $0)
        }
        #expect(waits == [true, true, true, true])
    }

    private static let handshake = Failure(.tlsFailed, "not valid yet")

    @Test(
        "a certificate that is not valid yet fails the task, unless the task waits for the clock",
        arguments: [
            RetryRow("the clock is right", handshake, becomes: .end) { $0.isNotYetValid = true },
            RetryRow("a server has acted on a POST", handshake, becomes: .end) {
                ($0.isNotYetValid, $0.waitsForClock, $0.method) = (true, true, "POST")
            },
            RetryRow("not set", handshake, becomes: .whenClockIsSet(recheckMilliseconds: 10_000)) {
                ($0.isNotYetValid, $0.waitsForClock, $0.consecutiveFailures) = (true, true, 9)
            } policy: {
                $0.maximumAttempts = 1
            },
            RetryRow("deadline", handshake, becomes: .whenClockIsSet(recheckMilliseconds: 10)) {
                ($0.isNotYetValid, $0.waitsForClock, $0.remainingMilliseconds) = (true, true, 10)
            },
        ])
    func decisions(_ row: RetryRow) { row.check() }
}
