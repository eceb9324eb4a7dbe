import Testing

@testable import BackhaulModel

private let a = Origin(scheme: "https", server: "a.example.org", port: 443)
private let b = Origin(scheme: "https", server: "b.example.org", port: 443)
private func other(_ number: Int) -> Origin { Origin(scheme: "https", server: "\(number).example.org", port: 443) }

/// `OriginDelays` as an object, so that `#expect` can call its mutating functions.
private final class Delays {
    private var value = OriginDelays()
    var isEmpty: Bool { value.isEmpty }
    func pause(_ origin: Origin = a, seconds: Int64 = 30, now: Int64 = 0) {
        _ = value.responded(.pause(seconds: seconds), from: origin, now: now)
    }
    func responded(_ origin: Origin, _ response: OriginResponse = .other, now: Int64) -> Bool {
        value.responded(response, from: origin, now: now)
    }
    func end(of origin: Origin, now: Int64) -> Int64? { value.end(of: origin, now: now) }
    func widths(now: Int64, _ running: [(origin: Origin, start: Int64)] = []) -> [Origin: Int] {
        value.widths(running: running, now: now)
    }
    func delayOfRedirect(to origin: Origin, now: Int64) -> Int64? { value.delayOfRedirect(to: origin, now: now) }
    func update(now: Int64) -> Int64? { value.update(now: now) }
}

/// The *width* of an origin is the number of tasks that may run there. In these tests, a pause has 30 seconds.
@Suite("The pauses that servers ask for")
struct OriginDelaysTests {
    private let delays = Delays()

    @Test("an origin without a pause has no limit")
    func none() {
        #expect(delays.isEmpty && delays.widths(now: 0).isEmpty && delays.delayOfRedirect(to: a, now: 0) == nil)
        #expect(!delays.responded(a, now: 0))
    }

    @Test("during the pause, no task runs at the origin; after the pause, each response doubles the width from 1 on")
    func slowStart() {
        delays.pause()
        #expect(delays.widths(now: 29_999) == [a: 0] && delays.end(of: a, now: 29_999) == 30_000)
        #expect(delays.widths(now: 30_000) == [a: 1] && delays.end(of: a, now: 30_000) == nil)
        var widths: [Int?] = []
        for _ in 0..<6 {
            #expect(delays.responded(a, now: 31_000))
            widths.append(delays.widths(now: 31_000)[a])
        }
        #expect(widths == [2, 4, 8, 16, 32, nil])
        #expect(delays.isEmpty)
    }

    @Test("a response during the pause, and a response of another origin, change nothing")
    func unrelated() {
        delays.pause()
        #expect(!delays.responded(a, now: 29_999) && !delays.responded(b, now: 40_000))
        #expect(delays.widths(now: 40_000) == [a: 1])
    }

    @Test("a task that started before the end of the pause does not count for the width")
    func earlierTasks() {
        delays.pause()
        let running = [(a, Int64(-5)), (a, 29_999), (a, 30_000), (b, 0)]
        #expect(delays.widths(now: 29_999, running) == [a: 0])
        #expect(delays.widths(now: 30_000, running) == [a: 3])
    }

    @Test("a refusal without Retry-After leaves the width as it is, and keeps the slow start alive")
    func refusals() {
        delays.pause()
        #expect(delays.responded(a, now: 30_000))
        #expect(!delays.responded(a, .refusal, now: 40_000))
        #expect(delays.widths(now: 40_000) == [a: 2])
        #expect(delays.update(now: 40_000) == 640_000)
    }

    @Test("after a refusal, as many tasks as before follow a redirect")
    func refusedAdmission() {
        delays.pause()
        #expect(delays.delayOfRedirect(to: a, now: 30_000) == nil)
        #expect(!delays.responded(a, .refusal, now: 30_100))
        #expect((0..<2).map { _ in delays.delayOfRedirect(to: a, now: 30_200) } == [nil, 1_000])
    }

    @Test("a further demand makes the pause longer, never shorter, and the slow start begins again")
    func further() {
        delays.pause()
        _ = delays.responded(a, now: 30_000)
        delays.pause(a, seconds: 5, now: 30_000)
        #expect(delays.widths(now: 34_999) == [a: 0] && delays.widths(now: 35_000) == [a: 1])
        delays.pause(a, seconds: 60, now: 31_000)
        delays.pause(a, seconds: 1, now: 32_000)
        #expect(delays.end(of: a, now: 32_000) == 91_000)
    }

    @Test("a pause lasts at most a day", arguments: [86_400, 86_401, Int64.max])
    func longest(_ seconds: Int64) {
        delays.pause(a, seconds: seconds, now: 0)
        #expect(delays.end(of: a, now: 0) == 86_400_000)
    }

    @Test("an origin is forgotten ten minutes after the end of its pause, or after its last response")
    func idle() {
        delays.pause()
        delays.pause(b)
        #expect(delays.update(now: 0) == 30_000)
        _ = delays.responded(b, now: 100_000)
        #expect(delays.update(now: 629_999) == 630_000)
        #expect(delays.update(now: 630_000) == 700_000)
        #expect(delays.widths(now: 630_000) == [b: 2])
        #expect(delays.update(now: 700_000) == nil && delays.isEmpty)
    }

    @Test("if very many origins ask for a pause, the pause that ends first is forgotten")
    func many() {
        for number in 0..<OriginDelays.capacity { delays.pause(other(number), now: Int64(number)) }
        delays.pause(a, now: 2_000)
        let widths = delays.widths(now: 2_000)
        #expect(widths.count == OriginDelays.capacity && widths[a] == 0 && widths[other(0)] == nil)
        delays.pause(a, now: 3_000)
        #expect(delays.widths(now: 3_000)[other(1)] == 0, "a further pause of a known origin needs no space")
    }

    @Test("during the pause, redirected tasks wait for its end, in groups of 1, 2, 4, 8 tasks")
    func redirects() {
        delays.pause()
        let waits = (0..<8).map { _ in delays.delayOfRedirect(to: a, now: 10_000) }
        #expect(waits == [20_000, 21_000, 21_000, 22_000, 22_000, 22_000, 22_000, 23_000])
    }

    @Test("after the pause, as many tasks follow a redirect as may run; after each response, further tasks follow it")
    func admissions() {
        delays.pause()
        #expect(delays.delayOfRedirect(to: a, now: 30_000) == nil)
        #expect(delays.delayOfRedirect(to: a, now: 30_001) == 1_000)
        _ = delays.responded(a, now: 30_100)
        #expect((0..<3).map { _ in delays.delayOfRedirect(to: a, now: 30_200) } == [nil, nil, 2_000])
    }

    @Test("if no response comes, one more task follows a redirect after ten seconds")
    func lostAdmission() {
        delays.pause()
        #expect(delays.delayOfRedirect(to: a, now: 30_000) == nil)
        #expect(delays.delayOfRedirect(to: a, now: 39_999) == 1_000)
        #expect(delays.delayOfRedirect(to: a, now: 40_000) == nil)
        #expect(delays.delayOfRedirect(to: a, now: 40_001) == 2_000)
    }

    @Test(
        "Retry-After demands a pause only with the statuses 403, 413, 429 and 5xx, except for a portal's 511",
        arguments: [
            (403, true), (413, true), (429, true), (500, true), (503, true), (520, true), (599, true), (200, false),
            (301, false), (404, false), (408, false), (425, false), (511, false), (600, false),
        ])
    func statuses(_ status: Int32, _ isPause: Bool) {
        let head = ResponseHead(
            status: status, finalURL: "", isMultiplexed: false, fields: [], retryAfterSeconds: 30)
        #expect(head.pauseSeconds == (isPause ? 30 : nil))
        #expect(head.demandedDelay == DemandedDelay(seconds: 30, pausesOrigin: isPause))
    }

    @Test("of several delays, the longest holds, and of equal ones the pause of the origin")
    func longestDelay() {
        let delays = [(60, false), (30, true), (30, false)].map { DemandedDelay(seconds: $0, pausesOrigin: $1) }
        #expect(delays.max() == delays[0])
        #expect(delays.dropFirst().max() == delays[1])
        let immediate = ResponseHead(
            status: 503, finalURL: "", isMultiplexed: false, fields: [], retryAfterSeconds: 0)
        #expect(immediate.demandedDelay?.pausesOrigin == false)
    }

    @Test(
        "a response demands a pause, refuses, or widens the origin; a portal's 511 says nothing about the origin",
        arguments: [
            (429, 30, .pause(seconds: 30)), (503, 30, .pause(seconds: 30)), (429, nil, .refusal), (403, nil, .refusal),
            (500, nil, .refusal), (503, 0, .refusal), (200, nil, .other), (404, 30, .other), (302, nil, .other),
            (511, nil, nil),
            (511, 30, nil),
        ] as [(Int32, Int64?, OriginResponse?)])
    func responses(_ status: Int32, _ retryAfter: Int64?, _ response: OriginResponse?) {
        let head = ResponseHead(
            status: status, finalURL: "", isMultiplexed: false, fields: [], retryAfterSeconds: retryAfter)
        #expect(head.originResponse == response)
    }
}
