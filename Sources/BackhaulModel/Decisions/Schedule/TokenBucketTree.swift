/// Rate limits permit a number of bytes per second. This type divides these bytes among the tasks. The engine, each
/// session and each task may have a rate limit. A limit applies to the sum of received and sent bytes. The bytes of a
/// task count for three limits: the limit of the task, of its session and of the engine. The parameter `now` of the
/// functions is the time in milliseconds, by a clock that never goes back.
///
/// Each of the three *levels* (task, session, engine) that has a limit is a token bucket. One chunk may overdraw the
/// bucket, and then later chunks wait. So the rate is kept for chunks of any size. Tasks that share a level move bytes
/// in rotation by deficit round robin (Shreedhar and Varghese, 1995). In each rotation, a task may move its *quantum*,
/// a number of bytes. A task that moved more than its quantum waits longer, and an idle task delays no other task.
public struct TokenBucketTree<Session: Hashable & Sendable, Task: Hashable & Sendable>: Sendable {
    public enum Level: Hashable, Sendable {
        case engine
        case session(Session)
        case task(Task)
    }

    /// While a level is idle, it saves at most the bytes of this many seconds.
    private static var burstSeconds: Double { 0.25 }
    /// Waiting tasks continue when the level has the bytes of this many seconds. With fewer bytes, tasks would pause
    /// and resume too often.
    private static var sliceSeconds: Double { 0.02 }
    /// The smallest and the largest quantum, in bytes. The smallest quantum is as large as a chunk that libcurl
    /// delivers.
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
    /// The tasks that have moved or requested bytes under a rate limit.
    private var accounts: [Task: Account] = [:]
    /// The waiting tasks, in the order in which they continue.
    private var queue: [Task] = []

    public init() {}

    /// Whether there is no limit at any level.
    public var isUnlimited: Bool { buckets.isEmpty }

    /// Whether a limit of the task, its session or the engine applies to the task.
    public func isLimited(_ task: Task, of session: Session) -> Bool {
        !isUnlimited && !limited(task, session).isEmpty
    }

    public func isWaiting(_ task: Task) -> Bool { accounts[task]?.isWaiting ?? false }

    /// The limit that leaves the fewest bytes per second to this task, if the tasks of each level share its limit
    /// equally. Nil if the task has not moved or requested bytes under a limit.
    public func narrowestLimit(of task: Task) -> (level: Level, rate: UInt64)? {
        guard let session = accounts[task]?.session else { return nil }
        let sharing = sharing()
        let shares = limited(task, session).map { level in
            let rate = buckets[level]?.rate ?? 0
            return (level: level, rate: rate, share: rate / Double(max(1, sharing[level] ?? 1)))
        }
        return shares.min { $0.share < $1.share }.map { ($0.level, UInt64(exactly: $0.rate) ?? .max) }
    }

    /// Sets the rate limit of a level. `rate`: bytes per second. If it is nil or 0, there is no limit. The next
    /// `release` applies the new rate to waiting tasks.
    public mutating func setRate(_ rate: UInt64?, of level: Level, now: Int64) {
        guard let rate, rate > 0 else {
            buckets[level] = nil
            if buckets.isEmpty, queue.isEmpty { accounts = [:] }
            return
        }
        var bucket = buckets[level] ?? Bucket(rate: Double(rate), updated: now)
        bucket.refill(now)
        // A negative balance counts bytes that were moved in advance, and causes a delay. At a lower rate, the same
        // balance would cause a longer delay. So if the rate becomes lower, the balance shrinks in proportion.
        bucket.balance *= min(1, Double(rate) / bucket.rate)
        bucket.rate = Double(rate)
        buckets[level] = bucket
    }

    /// Forgets a task that moves no more bytes, and removes the task's own limit.
    public mutating func end(_ task: Task) {
        guard !isUnlimited || !accounts.isEmpty else { return }
        buckets[.task(task)] = nil
        guard let account = accounts.removeValue(forKey: task), account.isWaiting else { return }
        queue.removeAll { $0 == task }
    }

    // MARK: Moving

    /// Whether the task may move bytes now. If not, the task waits until `release` returns it.
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

    /// Counts bytes that the task has moved, even if `mayMove` did not permit it.
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
        // The result is rounded up, because a delay that is slightly too short would cause a second delay.
        return least.map { $0 <= 0 ? 0 : Int64(min($0 * 1_000, 60_000)) + 1 }
    }

    /// Returns the waiting tasks that may continue now, in order. Tasks that have not used up their quantum come before
    /// tasks that get a new quantum.
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
            // The first task that continues at a level may move more bytes than the level has. For each further task,
            // the remaining bytes of the level must suffice.
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

    /// The quantum at each level, which is equal for all tasks that share the level.
    private func quanta() -> [Level: Double] {
        sharing().reduce(into: [:]) { quanta, level in
            let bytes = (buckets[level.key]?.rate ?? 0) * Self.sliceSeconds / Double(level.value)
            quanta[level.key] = min(max(bytes, Self.quantumBytes.lowerBound), Self.quantumBytes.upperBound)
        }
    }

    /// The number of tasks that share each level.
    private func sharing() -> [Level: Int] {
        var sharing: [Level: Int] = [:]
        for (task, account) in accounts {
            for level in limited(task, account.session) { sharing[level, default: 0] += 1 }
        }
        return sharing
    }

    private func limited(_ task: Task, _ session: Session) -> [Level] {
        [.engine, .session(session), .task(task)].filter { buckets[$0] != nil }
    }

    private func balance(_ level: Level) -> Double { buckets[level]?.balance ?? 0 }
}
