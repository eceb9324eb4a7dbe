import BackhaulModel
import Testing

@Suite("Launch backoff")
struct LaunchBackoffTests {
    @Test(
        "the delay until the next launch doubles up to its limit",
        arguments: [
            (1, 60_000), (2, 120_000), (3, 240_000), (6, 1_920_000), (7, 3_600_000), (8, 3_600_000),
            (UInt32.max, 3_600_000),
        ] as [(UInt32, Int64)])
    func doubles(launches: UInt32, delay: Int64) { #expect(LaunchPolicy.usual.delay(after: launches) == delay) }

    @Test("the delay until the next launch does not overflow")
    func extremes() {
        var command = LaunchCommand(program: "/usr/bin/photos")
        (command.firstDelayMilliseconds, command.longestDelayMilliseconds) = (.max, .max)
        #expect(LaunchPolicy(command).delay(after: .max) == Int64(UInt32.max))
        command.firstDelayMilliseconds = 1
        #expect(LaunchPolicy(command).delay(after: .max) == Int64(UInt32.max))
    }

    @Test("the delay until the next launch begins at each launch, and starts again when the launched host ends")
    func counts() {
        var backoff = LaunchBackoff()
        backoff.launched(now: 1_000, .usual)
        #expect(backoff == LaunchBackoff(launches: 1, dueAt: 61_000))
        backoff.ended(now: 5_000, .usual)
        #expect(backoff == LaunchBackoff(launches: 1, dueAt: 65_000))
        backoff.launched(now: 65_000, .usual)
        backoff.ended(now: 70_000, .usual)
        #expect(backoff == LaunchBackoff(launches: 2, dueAt: 190_000))
    }

    @Test("if the user starts a host, the count of launches becomes 0, or 1 if a launched host still runs")
    func hostConnected() {
        var backoff = LaunchBackoff(launches: 8, dueAt: 5_000)
        backoff.hostConnected(whileLaunchedHostRuns: true)
        #expect(backoff == LaunchBackoff(launches: 1))
        backoff.hostConnected(whileLaunchedHostRuns: false)
        #expect(backoff == LaunchBackoff())
    }

    @Test("a launched host that completed a session resets the delay until the next launch")
    func succeeded() {
        var backoff = LaunchBackoff(launches: 3, dueAt: 5_000)
        backoff.succeeded()
        backoff.ended(now: 6_000, .usual)
        #expect(backoff == LaunchBackoff())
    }

    @Test("the count of launches does not overflow")
    func greatest() {
        var backoff = LaunchBackoff(launches: .max)
        backoff.launched(now: 0, .usual)
        #expect(backoff.launches == .max)
    }
}
