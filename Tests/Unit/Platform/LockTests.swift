import Testing

@testable import BackhaulPlatform

/// A `Lock` protects a value that several threads use. A thread can also wait until a condition on the value is true.
@Suite struct LockTests {
    /// A time limit that is reached only because of a defect.
    private var timeLimit: Deadline { .after(milliseconds: 30_000) }

    @Test("if several threads change a value under a lock, no change is lost")
    func counting() throws {
        let count = Lock(0)
        let threads = try (0..<4).map { index in
            try Thread(name: "counter\(index)") { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
        }
        for thread in threads { thread.join() }
        #expect(count.withLock { $0 } == 40_000)
    }

    @Test("a wait on a lock checks the condition after each change, until the condition is true")
    func waiting() throws {
        let count = Lock(0)
        let thread = try Thread(name: "changer") { for _ in 0..<100 { count.change { $0 += 1 } } }
        #expect(count.wait(until: timeLimit) { $0 == 100 ? $0 : nil } == 100)
        thread.join()
    }

    @Test("a wait on a lock ends at the deadline, after one last check of the condition")
    func deadline() {
        let count = Lock(0)
        let checks = Lock(0)
        let result: Int? = count.wait(until: .after(milliseconds: 5)) { _ in
            checks.withLock { $0 += 1 }
            return nil
        }
        #expect(result == nil)
        #expect(checks.withLock { $0 } >= 2)
    }

    @Test("a wait on a lock checks the condition one time, even if the deadline has already passed")
    func passedDeadline() {
        let value = Lock(7)
        #expect(value.wait(until: .after(milliseconds: -1)) { $0 } == 7)
    }

    @Test("an error that is thrown under a lock releases the lock")
    func throwing() {
        struct Mistake: Error {}
        let value = Lock(1)
        #expect(throws: Mistake.self) { try value.withLock { _ throws(Mistake) in throw Mistake() } }
        #expect(value.withLock { $0 } == 1)
    }

    @Test("an extreme time-out does not overflow", arguments: [Int64.max, Int64.max / 2, Int64(1) << 50])
    func absurdDeadline(milliseconds: Int64) {
        let deadline = Deadline.after(milliseconds: milliseconds)
        #expect(!deadline.hasPassed)
        #expect(deadline.millisecondsLeft > 1 << 40)
        #expect(Deadline.after(milliseconds: .min).hasPassed)
    }
}
