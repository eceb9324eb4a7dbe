/// Who may move bytes when they are limited, as a value: the engine, sessions and tasks have so many bytes per second,
/// both ways together, and what a task moves counts for all of its levels. It knows no clock; `now` is milliseconds of
/// one that never goes back.
///
/// Each limited level is a token bucket that may be overdrawn by what is taken at once, so that the rate holds however
/// large the pieces are. Those who share a level take turns by deficit round robin (Shreedhar and Varghese, 1995): a
/// turn is worth so many bytes, whoever took more waits longer, and whoever takes nothing holds up nobody.
public struct RateBudget<Session: Hashable & Sendable, Task: Hashable & Sendable>: Sendable {
    public enum Level: Hashable, Sendable {
        case engine
        case session(Session)
        case task(Task)
    }

    /// What is saved up while nobody takes anything.
    private static var burstSeconds: Double { 0.25 }
    /// How much there is before those who wait go on: pausing and going on for less costs more than it smooths.
    private static var sliceSeconds: Double { 0.02 }
    /// Bytes of one turn: at least what libcurl hands over at once.
    private static var turnBytes: ClosedRange<Double> { 16_384...16_777_216 }

    private struct Bucket {
        var rate: Double
        /// Bytes that may be moved; negative: what was taken ahead.
        var balance: Double = 0
        var updated: Int64

        mutating func refill(_ now: Int64) {
            let seconds = Double(max(0, now - updated)) / 1_000
            balance = min(rate * RateBudget.burstSeconds, balance + rate * seconds)
            updated = max(updated, now)
        }

        /// Until those who wait go on.
        func secondsToWait() -> Double { max(0, RateBudget.sliceSeconds - balance / rate) }
    }

    private struct Account {
        let session: Session
        /// Bytes that are left of its turn; negative: of the next one.
        var credit = RateBudget.turnBytes.lowerBound
        var isWaiting = false
    }

    private var buckets: [Level: Bucket] = [:]
    /// Of tasks that have met a limit.
    private var accounts: [Task: Account] = [:]
    /// In turn.
    private var queue: [Task] = []

    public init() {}

    /// Nobody is limited: there is nothing to ask.
    public var isUnlimited: Bool { buckets.isEmpty }

    /// A limit of its own, its session's or the engine's holds for the task.
    public func isLimited(_ task: Task, of session: Session) -> Bool {
        !isUnlimited && !limited(task, session).isEmpty
    }

    public func isWaiting(_ task: Task) -> Bool { accounts[task]?.isWaiting ?? false }

    /// Nil or 0: no limit. Those who wait go on with the next `release`.
    public mutating func setRate(_ rate: UInt64?, of level: Level, now: Int64) {
        guard let rate, rate > 0 else {
            buckets[level] = nil
            if buckets.isEmpty, queue.isEmpty { accounts = [:] }
            return
        }
        var bucket = buckets[level] ?? Bucket(rate: Double(rate), updated: now)
        bucket.refill(now)
        // What was taken ahead under a higher rate does not have to be waited for at the lower one.
        bucket.balance *= min(1, Double(rate) / bucket.rate)
        bucket.rate = Double(rate)
        buckets[level] = bucket
    }

    /// The task moves nothing for now, and its own limit is gone.
    public mutating func end(_ task: Task) {
        guard !isUnlimited || !accounts.isEmpty else { return }
        buckets[.task(task)] = nil
        guard let account = accounts.removeValue(forKey: task), account.isWaiting else { return }
        queue.removeAll { $0 == task }
    }

    // MARK: Moving

    /// Whether the task may move bytes now. False: it waits until `release` names it.
    public mutating func mayMove(_ task: Task, of session: Session, now: Int64) -> Bool {
        guard !isUnlimited else { return true }
        let levels = limited(task, session)
        guard !levels.isEmpty else { return true }
        var account = accounts[task] ?? Account(session: session)
        guard !account.isWaiting else { return false }
        for level in levels { buckets[level]?.refill(now) }
        account.isWaiting = account.credit <= 0 || levels.contains { balance($0) <= 0 }
        accounts[task] = account
        // Who was kept from the rest of his turn goes before those whose next has not come.
        if account.isWaiting {
            let place = account.credit > 0 ? queue.firstIndex { (accounts[$0]?.credit ?? 0) <= 0 } : nil
            queue.insert(task, at: place ?? queue.endIndex)
        }
        return !account.isWaiting
    }

    /// It did. What is moved without having asked is taken ahead.
    public mutating func moved(_ count: Int, by task: Task, of session: Session) {
        guard !isUnlimited, count > 0 else { return }
        let levels = limited(task, session)
        guard !levels.isEmpty else { return }
        for level in levels { buckets[level]?.balance -= Double(count) }
        accounts[task]?.credit -= Double(count)
    }

    // MARK: Waiting

    /// Milliseconds until somebody who waits may go on; nil when nobody waits.
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
        // Not before its time: a wait that is a fraction too short would be followed by another.
        return least.map { $0 <= 0 ? 0 : Int64(min($0 * 1_000, 60_000)) + 1 }
    }

    /// Those who waited and may go on now, in turn. Nobody begins a turn before those are served who could not end
    /// theirs.
    public mutating func release(now: Int64) -> [Task] {
        guard !queue.isEmpty else { return [] }
        for level in buckets.keys { buckets[level]?.refill(now) }
        var left = buckets.mapValues(\.balance)
        var served: Set<Level> = []
        var ending: Set<Level> = []
        let turns = turns()
        var released: [Task] = []
        for task in queue {
            guard var account = accounts[task] else { continue }
            let levels = limited(task, account.session)
            guard levels.allSatisfy({ left[$0] ?? 0 > 0 }) else { continue }
            let isEnding = account.credit > 0
            let turn = isEnding ? 0 : levels.compactMap { turns[$0] }.min() ?? 0
            // There must be enough for all that go on, or for one that takes it ahead.
            let needed = max(0, account.credit + turn)
            guard isEnding || ending.isDisjoint(with: levels),
                levels.allSatisfy({ left[$0] ?? 0 >= needed || !served.contains($0) })
            else { continue }
            account.credit += turn
            // Else it took more than this turn before.
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

    /// Bytes of a turn at each level, the same for all who share it.
    private func turns() -> [Level: Double] {
        var sharing: [Level: Int] = [:]
        for (task, account) in accounts {
            for level in limited(task, account.session) { sharing[level, default: 0] += 1 }
        }
        return sharing.reduce(into: [:]) { turns, level in
            let bytes = (buckets[level.key]?.rate ?? 0) * Self.sliceSeconds / Double(level.value)
            turns[level.key] = min(max(bytes, Self.turnBytes.lowerBound), Self.turnBytes.upperBound)
        }
    }

    private func limited(_ task: Task, _ session: Session) -> [Level] {
        [.engine, .session(session), .task(task)].filter { buckets[$0] != nil }
    }

    private func balance(_ level: Level) -> Double { buckets[level]?.balance ?? 0 }
}
