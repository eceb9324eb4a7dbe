import CBackhaul
import CSimulation
import Glibc

/// What a program asks beside its work. The replies must agree with each other, and with what the program has done.
struct Inspection {
    let library: sim_library
    let application: OpaquePointer?
    let session: OpaquePointer?
    /// Whether tasks may wait for a credential.
    let hasCredentials: Bool

    /// What is wrong in the listing of a task.
    enum Contradiction: Int64 {
        /// The task waits, and no reason or no sentence is given.
        case noReason = 1
        /// The next attempt is later than any delay can last.
        case tooLate
        /// The last failure is a full disk and the reason is another, or the other way round.
        case otherFailure
        /// The task is suspended, and the program has not suspended it.
        case notSuspended
        /// The task waits for something that does not exist in the simulated world.
        case impossibleReason
        /// The task waits for the response to a challenge, and no challenge is open.
        case noChallenge
        /// The task waits for the end of a pause, and no server has demanded one.
        case noPause
        /// The task waits for another task, and its request names none.
        case noDependency
        /// The task runs, or waits for something else, before the end of the task for which it must wait.
        case dependencyIsIgnored
        /// The task waits for another task, which has ended.
        case dependencyHasEnded
    }

    /// Lists the tasks. Calls `found` for each contradiction, with the id of the task. `suspended` has the ids of the
    /// tasks that the program has suspended. It may not know the result of such a call.
    func listTasks(
        suspended: Set<UInt64>, _ reasons: WaitReasons, _ error: inout bh_error,
        found: (UInt64, Contradiction) -> Void
    ) -> bh_status {
        withTasks(&error) { infos in
            let known = Dictionary(
                infos.map { (PreparedRequest.task($0.idempotency_key) ?? -1, $0) }, uniquingKeysWith: { $1 })
            for info in infos {
                let contradiction =
                    contradiction(in: info, isSuspended: suspended.contains(info.id))
                    ?? reasons.contradiction(in: info, known)
                if let contradiction { found(info.id, contradiction) }
            }
        }
    }

    /// Calls `body` with the tasks of the session.
    func withTasks(_ error: inout bh_error, _ body: ([bh_task_info]) -> Void) -> bh_status {
        var tasks: OpaquePointer?
        let status = library.session_tasks(session, nil, 0, 1_000, BH_WAIT_DEFAULT, &tasks, &error)
        defer { library.batch_release(tasks) }
        if status == BH_OK { body(library.items(tasks, BH_ITEM_TASK, bh_task_info.self)) }
        return status
    }

    private func contradiction(in info: bh_task_info, isSuspended: Bool) -> Contradiction? {
        let reason = Int(info.reason)
        if Int(info.state) == BH_TASK_SUSPENDED { return isSuspended ? nil : .notSuspended }
        guard Int(info.state) == BH_TASK_WAITING else { return nil }
        guard reason != BH_REASON_NONE, info.reason_text != nil else { return .noReason }
        if reason == BH_REASON_CREDENTIAL, hasCredentials { return nil }
        if Self.impossible.contains(reason) { return .impossibleReason }
        let longest: Int64? =
            switch reason {
            case BH_REASON_RETRY, BH_REASON_DISK_FULL: Self.longestDelay
            case BH_REASON_ORIGIN: Int64(Answer.longestPause) * 1_000 + Self.longestDelay
            default: nil
            }
        if let longest, info.next_attempt_ms > Self.now + longest + 1_000 { return .tooLate }
        let (isFull, saysFull) = (info.status == BH_DISK_FULL, reason == BH_REASON_DISK_FULL)
        return saysFull != isFull && [BH_REASON_RETRY, BH_REASON_DISK_FULL].contains(reason) ? .otherFailure : nil
    }

    private static let impossible: Set<Int> = [
        BH_REASON_CREDENTIAL, BH_REASON_RATE, BH_REASON_POWER, BH_REASON_BATTERY, BH_REASON_HEAT, BH_REASON_PRESSURE,
        BH_REASON_METERED, BH_REASON_NETWORK, BH_REASON_THROUGHPUT, BH_REASON_EARLIEST_START, BH_REASON_QUIET_HOURS,
        BH_REASON_BUDGET, BH_REASON_SLEEP, BH_REASON_PORTAL, BH_REASON_CLOCK,
    ]

    /// The default of retry.longest_delay_ms.
    private static let longestDelay: Int64 = 600_000

    /// The calendar of the process, in milliseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Tries to become the consumer of a session. Waits for so many milliseconds until it has no other consumer; nil:
    /// does not wait. Returns the status, and closes the session.
    func attach(_ identifier: String, waiting milliseconds: Int32? = nil, _ error: inout bh_error) -> bh_status {
        var second: OpaquePointer?
        defer {
            library.session_close(second)
            library.ticket_release(error.ticket)
        }
        let role = milliseconds == nil ? BH_ROLE_CONSUME : BH_ROLE_CONSUME_WHEN_FREE
        return library.session_attach(
            application, identifier, bh_role(role), milliseconds ?? BH_WAIT_DEFAULT, &second, &error)
    }

    /// Returns the limit of running tasks in the stored configuration.
    func runningLimit(_ error: inout bh_error) -> (status: bh_status, limit: UInt32) {
        var batch: OpaquePointer?
        let status = library.session_get_configuration(session, BH_WAIT_DEFAULT, &batch, &error)
        defer { library.batch_release(batch) }
        let configuration = library.items(batch, BH_ITEM_CONFIGURATION, bh_session_configuration.self).first
        return (status, configuration?.maximum_running_tasks ?? 0)
    }
}
