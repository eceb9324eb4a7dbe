import CBackhaul

/// A command that was sent to the engine (the process that runs the transfers), and whose reply may not have come yet.
/// The wait for the reply consists of short intervals, so that Ctrl-C can interrupt it.
struct Ticket: ~Copyable {
    private static let slice: Int32 = 100
    /// The longest wait for the engine's reply, in milliseconds. While the engine's process is stopped (`SIGSTOP`),
    /// `limitWhileStopped` applies.
    private static let limit: Int64 = 30_000
    private static let limitWhileStopped: Int64 = 5_000

    // Unsafe: an opaque handle of the library, never dereferenced here. The handle is released when this struct, its
    // only owner, is deinitialized.
    private let pointer: OpaquePointer

    init(
        _ start: (UnsafeMutablePointer<bh_error>) -> bh_status
    ) throws(CommandError) {
        var ticket: OpaquePointer?
        do {
            try check { error in
                let status = start(error)
                guard Int(status) == BH_STARTED else { return status }
                ticket = error.pointee.ticket
                return bh_status(BH_OK)
            }
        } catch {
            throw .failure(error)
        }
        guard let ticket else {
            throw .stopped(.libraryFailed, "The library gave no ticket for a verb that it had started.")
        }
        pointer = ticket
    }

    deinit { bh_ticket_release(pointer) }

    /// - Parameter isLimited: Whether the wait has a time limit.
    func wait(_ signals: Signals, isLimited: Bool = true) throws(CommandError) {
        let started = Clock.milliseconds
        while true {
            do {
                return try check { error in bh_ticket_wait(pointer, Ticket.slice, error) }
            } catch {
                if !isLimited && error.is(BH_TIMEOUT) {
                    try signals.check()
                    continue
                }
                let limit =
                    error.is(BH_TIMEOUT)
                    ? Ticket.limit : error.is(BH_ENGINE_UNRESPONSIVE) ? Ticket.limitWhileStopped : 0
                guard Clock.milliseconds - started < limit else { throw .failure(error) }
            }
            try signals.check()
        }
    }

    func batch() throws(CommandError) -> Batch {
        var batch: OpaquePointer?
        do { try check { error in bh_ticket_batch(pointer, &batch, error) } } catch { throw .failure(error) }
        return Batch(batch)
    }

    func session() throws(CommandError) -> (OpaquePointer?, isNew: Bool) {
        var session: OpaquePointer?
        var disposition: Int32 = 0
        do { try check { error in bh_ticket_session(pointer, &session, &disposition, error) } } catch {
            throw .failure(error)
        }
        return (session, Int(disposition) == BH_SESSION_CREATED)
    }

    func count() throws(CommandError) -> UInt64 {
        var count: UInt64 = 0
        do { try check { error in bh_ticket_count(pointer, &count, error) } } catch { throw .failure(error) }
        return count
    }
}

/// A batch: a list that a function of the library returned.
struct Batch: ~Copyable {
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { self.pointer = pointer }
    deinit { bh_batch_release(pointer) }

    var hasMore: Bool { bh_batch_more(pointer) }

    func events() -> [EventRecord] { items(bh_batch_event_at).map { EventRecord($0) } }
    func tasks() -> [TaskRecord] { items(bh_batch_task_at).map { TaskRecord($0) } }
    func sessions() -> [SessionRecord] { items(bh_batch_session_at).map { SessionRecord($0) } }
    func engine() -> EngineRecord? { bh_batch_engine_at(pointer, 0).map { EngineRecord($0.pointee) } }
    func challenges() -> [ChallengeRecord] { items(bh_batch_challenge_at).map { ChallengeRecord($0) } }
    func attempts() -> [AttemptRecord] { items(bh_batch_attempt_at).map { AttemptRecord($0) } }
    func waits() -> [WaitRecord] { items(bh_batch_wait_at).map { WaitRecord($0) } }
    func conditions() -> [ConditionRecord] { items(bh_batch_condition_at).map { ConditionRecord($0) } }
    func holds() -> [HoldRecord] { items(bh_batch_hold_at).map { HoldRecord($0) } }
    func networks() -> [NetworkRecord] { items(bh_batch_network_at).map { NetworkRecord($0) } }
    func activities() -> [ActivityRecord] { items(bh_batch_activity_at).map { ActivityRecord($0) } }
    func enqueued() -> [EnqueueResult] { items(bh_batch_enqueued_at).map { EnqueueResult($0) } }
    func limits() -> bh_limits? { bh_batch_limits_at(pointer, 0)?.pointee }
    func launches() -> [LaunchRecord] { items(bh_batch_launch_info_at).map { LaunchRecord($0) } }
    func sessionsOfLaunch() -> [String] {
        guard let launch = bh_batch_launch_at(pointer, 0)?.pointee, launch.sessions != nil else { return [] }
        return UnsafeBufferPointer(start: launch.sessions, count: launch.session_count).compactMap {
            $0.map { SessionRecord($0.pointee).identifier }
        }
    }

    /// Calls `body` with the configuration, whose pointers are valid until `body` returns.
    func withConfiguration<Result: ~Copyable>(
        _ body: (bh_session_configuration?) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        try body(bh_batch_configuration_at(pointer, 0)?.pointee)
    }

    private func items<Item>(_ item: (OpaquePointer?, Int) -> UnsafePointer<Item>?) -> [Item] {
        (0..<bh_batch_count(pointer)).compactMap { item(pointer, $0)?.pointee }
    }
}
