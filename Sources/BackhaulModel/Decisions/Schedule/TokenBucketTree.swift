/// Shares the bytes per second of rate limits among tasks. The engine, sessions and tasks may have limits, each for
/// received and sent bytes together. The bytes of a task count for its own limit, for its session's and for the
/// engine's. `now` is in milliseconds of a clock that never goes back.
///
/// Each limited level is a token bucket. One chunk may overdraw it, so the rate is kept for chunks of any size. Tasks
/// that share a level move bytes in rotation by deficit round robin (Shreedhar and Varghese, 1995). In each rotation, a
/// task may move its *quantum*, a number of bytes. A task that moved more than its quantum waits longer, and an idle
/// task delays no other.
public struct TokenBucketTree<Session: Hashable & Sendable, Task: Hashable & Sendable>: Sendable {
    public enum Level: Hashable, Sendable {
        case engine
        case session(Session)
        case task(Task)
    }

    /// How many seconds of its rate a level can save while it is idle.
    private static var burstSeconds: Double { 0.25 }
    /// How many seconds of its rate a level must have before waiting tasks continue. With less, tasks would pause and
    /// resume too often.
    private static var sliceSeconds: Double { 0.02 }
    /// The limits of a quantum, in bytes. The lower limit is what libcurl delivers at once.
    private static var quantumBytes: ClosedRange<Double> { 16_384...16_777_216 }

    private struct Bucket {
        var rate: Double
        /// The bytes that may be moved now; negative if bytes were moved in advance.
        var balance: Double = 0
        var updated: Int64

        mutating func refill(_ now: Int64) {
            let seconds = Double(max(0, now - updated)) / 1_000
            balance = min(rate * TokenBucketTree.burstSeconds, balance + rate * seconds)
            updated = max(updated, now)
        }

        /// The seconds until waiting tasks may continue.
        func secondsToWait() -> Double { max(0, TokenBucketTree.sliceSeconds - balance / rate) }
    }

    private struct Account {
        let session: Session
        /// The bytes that are left of the task's quantum; negative if bytes of the next quantum were moved in advance.
        var credit = TokenBucketTree.quantumBytes.lowerBound
        var isWaiting = false
    }

    private var buckets: [Level: Bucket] = [:]
    /// The tasks that have met a limit.
    private var accounts: [Task: Account] = [:]
    /// The waiting tasks, in order.
    private var queue: [Task] = []

    public init() {}

    /// Whether there is no limit at any level.
    public var isUnlimited: Bool { buckets.isEmpty }

    /// Whether a limit of the task, its session or the engine applies to the task.
    public func isLimited(_ task: Task, of session: Session) -> Bool {
        !isUnlimited && !limited(task, session).isEmpty
    }

    public func isWaiting(_ task: Task) -> Bool { accounts[task]?.isWaiting ?? false }

    /// Sets the rate limit of a level. `rate`: bytes per second; nil or 0: no limit. Waiting tasks continue with the
    /// next `release`.
    public mutating func setRate(_ rate: UInt64?, of level: Level, now: Int64) {
        guard let rate, rate > 0 else {
            buckets[level] = nil
            if buckets.isEmpty, queue.isEmpty { accounts = [:] }
            return
        }
        var bucket = buckets[level] ?? Bucket(rate: Double(rate), updated: now)
        bucket.refill(now)
        // A lower rate also reduces the bytes that were moved in advance, so that the delay for them does not grow.
        bucket.balance *= min(1, Double(rate) / bucket.rate)
        bucket.rate = Double(rate)
        buckets[level] = bucket
    }

    /// Forgets a task that moves no more bytes, and removes its own limit.
    public mutating func end(_ task: Task) {
        guard !isUnlimited || !accounts.isEmpty else { return }
        buckets[.task(task)] = nil
        guard let account = accounts.removeValue(forKey: task), account.isWaiting else { return }
        queue.removeAll { $0 == task }
    }

    // MARK: Moving

    /// Whether the task may move bytes now. If not, it waits until `release` returns it.
    public mutating func mayMove(_ task: Task, of session: Session, now: Int64) -> Bool {
        guard !isUnlimited else { return true }
        let levels = limited(task, session)
        guard !levels.isEmpty else { return true }
        var account = accounts[task] ?? Account(session: session)
        guard !account.isWaiting else { return false }
        for level in levels { buckets[level]?.refill(now) }
        account.isWaiting = account.credit <= 0 || levels.contains { balance($0) <= 0 }
        accounts[task] = account
        // A task that has not used up its quantum goes before tasks that wait for their next quantum.
        if account.isWaiting {
            let place = account.credit > 0 ? queue.firstIndex { (accounts[$0]?.credit ?? 0) <= 0 } : nil
            queue.insert(task, at: place ?? queue.endIndex)
        }
        return !account.isWaiting
    }

    /// Counts bytes that the task has moved, even if it had no permission.
    public mutating func moved(_ count: Int, by task: Task, of session: Session) {
        guard !isUnlimited, count > 0 else { return }
        let levels = limited(task, session)
        guard !levels.isEmpty else { return }
        for level in levels { buckets[level]?.balance -= Double(count) }
        accounts[task]?.credit -= Double(count)
    }

    // MARK: Waiting

    /// The milliseconds until a waiting task may continue; nil if no task waits.
    public func millisecondsToWait(now: Int64) -> Int64? {
        var least: Double?
        var refilled: [Level: Double] = [:]
        for task in queue {
            guard let account = accounts[task] else { continue }
            var seconds = 0.0
            for level in limited(task, account.session) {
                if refilled[level] == nil, var bucket = buckets[level] {
                    bucket.refill(now)
                    refilled[level] = bucket.secondsToWait()
                }
                seconds = max(seconds, refilled[level] ?? 0)
            }
            least = min(least ?? seconds, seconds)
        }
        // The result is rounded up, because a delay that is slightly too short would cause another one.
        return least.map { $0 <= 0 ? 0 : Int64(min($0 * 1_000, 60_000)) + 1 }
    }

    /// Returns the waiting tasks that may continue now, in order. Tasks that have not used up their quantum come before
    /// tasks that get a new one.
    public mutating func release(now: Int64) -> [Task] {
        guard !queue.isEmpty else { return [] }
        for level in buckets.keys { buckets[level]?.refill(now) }
        var left = buckets.mapValues(\.balance)
        var served: Set<Level> = []
        var ending: Set<Level> = []
        let quanta = quanta()
        var released: [Task] = []
        for task in queue {
            guard var account = accounts[task] else { continue }
            let levels = limited(task, account.session)
            guard levels.allSatisfy({ left[$0] ?? 0 > 0 }) else { continue }
            let isEnding = account.credit > 0
            let quantum = isEnding ? 0 : levels.compactMap { quanta[$0] }.min() ?? 0
            // The bytes of a level must suffice for all tasks that continue. A single task may move bytes in advance.
            let needed = max(0, account.credit + quantum)
            guard isEnding || ending.isDisjoint(with: levels),
                levels.allSatisfy({ left[$0] ?? 0 >= needed || !served.contains($0) })
            else { continue }
            account.credit += quantum
            // A task that moved more than this quantum in advance continues to wait.
            account.isWaiting = account.credit <= 0 && !levels.isEmpty
            accounts[task] = account
            guard !account.isWaiting else { continue }
            released.append(task)
            served.formUnion(levels)
            if isEnding { ending.formUnion(levels) }
            for level in levels { left[level]? -= account.credit }
        }
        queue.removeAll { accounts[$0]?.isWaiting != true }
        return released
    }

    /// The quantum at each level, which is the same for all tasks that share the level.
    private func quanta() -> [Level: Double] {
        var sharing: [Level: Int] = [:]
        for (task, account) in accounts {
            for level in limited(task, account.session) { sharing[level, default: 0] += 1 }
        }
        return sharing.reduce(into: [:]) { quanta, level in
            let bytes = (buckets[level.key]?.rate ?? 0) * Self.sliceSeconds / Double(level.value)
            quanta[level.key] = min(max(bytes, Self.quantumBytes.lowerBound), Self.quantumBytes.upperBound)
        }
    }

    private func limited(_ task: Task, _ session: Session) -> [Level] {
        [.engine, .session(session), .task(task)].filter { buckets[$0] != nil }
    }

    private func balance(_ level: Level) -> Double { buckets[level]?.balance ?? 0 }
}
