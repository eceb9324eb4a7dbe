internal import CBackhaul

/// How long the methods of a blocking application and its sessions wait for the engine's reply.
package struct Patience: Sendable {
    /// The longest wait.
    private let limit: Duration
    /// The longest wait while the engine's process is stopped (SIGSTOP).
    private let limitWhileStopped: Duration
    /// Whether the wait is interrupted. Nil means that no wait is interrupted.
    private let isInterrupted: (@Sendable () -> Bool)?

    /// The wait ends after 30 seconds.
    package static let usual = Patience(limitWhileStopped: .seconds(30), isInterrupted: nil)

    /// - Parameter isInterrupted: A function that is called about ten times a second. If it returns true, the method
    ///   that waits throws `.cancelled`.
    package init(
        limit: Duration = .seconds(30), limitWhileStopped: Duration, isInterrupted: (@Sendable () -> Bool)?
    ) {
        self.limit = limit
        self.limitWhileStopped = limitWhileStopped
        self.isInterrupted = isInterrupted
    }

    /// Starts a verb, waits until it has ended, and returns its result.
    func run<Owner, Value>(_ verb: Verb<Owner, Value>, _ handle: Handle) throws(BackhaulError) -> Value {
        let ticket = try verb.ticket(handle)
        defer { bh_ticket_release(ticket.pointer) }
        if let isInterrupted {
            try Patience.wait(ticket, verb.isUnlimited ? nil : limit, limitWhileStopped, isInterrupted)
        } else {
            try check { error in bh_ticket_wait(ticket.pointer, BH_WAIT_DEFAULT, error) }
        }
        return try verb.result(ticket)
    }

    /// Does the same as `run`, but without a limit, until `isInterrupted` returns true.
    static func run<Owner, Value>(
        _ verb: Verb<Owner, Value>, _ handle: Handle, until isInterrupted: () -> Bool
    ) throws(BackhaulError) -> Value {
        let ticket = try verb.ticket(handle)
        defer { bh_ticket_release(ticket.pointer) }
        try wait(ticket, nil, nil, isInterrupted)
        return try verb.result(ticket)
    }

    private static func wait(
        _ ticket: Handle, _ limit: Duration?, _ limitWhileStopped: Duration?, _ isInterrupted: () -> Bool
    ) throws(BackhaulError) {
        let began = ContinuousClock.now
        while !isInterrupted() {
            let start = ContinuousClock.now
            do throws(BackhaulError) {
                return try check { error in bh_ticket_wait(ticket.pointer, 100, error) }
            } catch {
                let now = ContinuousClock.now
                switch error.status {
                case .timeout:
                    if let limit, now - began >= limit { throw error }
                // This status has two meanings: the verb has failed with it, or the engine has not replied yet. If the
                // verb has failed, bh_ticket_wait returns immediately.
                case .engineUnresponsive where now - start >= .milliseconds(50):
                    if let limitWhileStopped, now - began >= limitWhileStopped { throw error }
                default: throw error
                }
            }
        }
        throw BackhaulError(.cancelled, message: "the wait was interrupted")
    }
}
