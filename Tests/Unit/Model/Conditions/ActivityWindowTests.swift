import BackhaulModel
import Testing

@Suite("Windows of activities")
struct ActivityWindowTests {
    static let hour: Int64 = 3_600_000
    private let daily = Activity(identifier: "sync", intervalMilliseconds: 86_400_000, toleranceMilliseconds: 7_200_000)
    private let start: Int64 = 1_795_000_000_000

    private func current(_ window: ActivityWindow, at now: Int64, repeats: Bool = true) -> ActivityWindow {
        window.current(
            intervalMilliseconds: daily.intervalMilliseconds, toleranceMilliseconds: daily.toleranceMilliseconds,
            repeats: repeats, now: now)
    }

    private func next(_ window: ActivityWindow, at now: Int64) -> ActivityWindow? {
        window.next(
            intervalMilliseconds: daily.intervalMilliseconds, toleranceMilliseconds: daily.toleranceMilliseconds,
            repeats: true, now: now)
    }

    @Test("the first window of an activity opens after the interval, or at the stated time")
    func first() {
        #expect(ActivityWindow.first(of: daily, now: start).begin == start + 24 * Self.hour)
        var stated = daily
        stated.firstMilliseconds = start + 5
        let window = ActivityWindow(begin: start + 5, toleranceMilliseconds: 7_200_000)
        #expect(ActivityWindow.first(of: stated, now: start) == window)
    }

    @Test(
        "an activity starts in its window when no condition delays it, and at the latest at the window's end",
        arguments: [
            (-1, false, false), (-1, true, false), (0, false, true), (0, true, false), (7_199_999, true, false),
            (7_200_000, true, true),
        ] as [(Int64, Bool, Bool)])
    func starts(after: Int64, isHeld: Bool, expected: Bool) {
        let window = ActivityWindow(begin: start, toleranceMilliseconds: 7_200_000)
        #expect(window.shouldStart(now: start + after, holds: isHeld ? [Hold(.power, "")] : []) == expected)
    }

    @Test("an activity is checked both when its window opens and when its window ends")
    func looks() {
        let window = ActivityWindow(begin: start, toleranceMilliseconds: 10)
        #expect(window.nextCheck(now: start - 1) == start)
        #expect(window.nextCheck(now: start) == start + 10)
        #expect(window.nextCheck(now: start + 10) == nil)
    }

    @Test("the last missed window of an activity replaces all earlier missed windows")
    func missed() {
        let window = ActivityWindow(begin: start, toleranceMilliseconds: 7_200_000)
        // Three days and five hours later, three more windows have passed, and no window is open.
        let now = start + 77 * Self.hour
        let current = current(window, at: now)
        #expect(current.begin == start + 72 * Self.hour)
        #expect(current.shouldStart(now: now, holds: [Hold(.power, "")]))
        #expect(next(current, at: now)?.begin == start + 96 * Self.hour)
    }

    @Test("if a window of an activity is open after missed windows, the activity still waits for its conditions")
    func missedAndOpen() {
        let window = ActivityWindow(begin: start, toleranceMilliseconds: 7_200_000)
        let now = start + 49 * Self.hour
        let current = current(window, at: now)
        #expect(!current.shouldStart(now: now, holds: [Hold(.power, "")]))
        #expect(current.end == start + 50 * Self.hour)
        #expect(next(current, at: now)?.begin == start + 72 * Self.hour)
    }

    @Test("an early start of an activity does not move its later windows")
    func steady() {
        let window = ActivityWindow(begin: start, toleranceMilliseconds: 7_200_000)
        #expect(next(window, at: start)?.begin == start + 24 * Self.hour)
        #expect(next(window, at: start + 2 * Self.hour)?.begin == start + 24 * Self.hour)
    }

    @Test("an activity that does not repeat has one window, which does not move")
    func once() {
        let window = ActivityWindow(begin: start, toleranceMilliseconds: 5)
        #expect(window.next(intervalMilliseconds: 10, toleranceMilliseconds: 5, repeats: false, now: start) == nil)
        #expect(current(window, at: start + 100 * Self.hour, repeats: false) == window)
    }

    @Test("computing an activity's window does not crash on extreme times", arguments: [.min, 0, .max] as [Int64])
    func extremes(number: Int64) {
        let window = ActivityWindow(begin: number, toleranceMilliseconds: .max)
        for now in [Int64.min, 0, .max] {
            _ = window.current(intervalMilliseconds: 0, toleranceMilliseconds: .max, repeats: true, now: now)
            _ = window.next(intervalMilliseconds: .max, toleranceMilliseconds: .max, repeats: true, now: now)
        }
        #expect(window.end >= window.begin)
    }

    @Test("each quality of service (an activity's setting) has the constraints that the C header documents")
    func quality() {
        func reasons(_ quality: QualityOfService) -> [WaitReason] {
            Situation { ($0.session, $0.conditions) = (quality.constraints, .onTheRoad) }.reasons
        }
        #expect(reasons(.background) == [.power, .metered])
        #expect(reasons(.utility) == [.metered])
        #expect(reasons(.userInitiated) == [])
    }
}
