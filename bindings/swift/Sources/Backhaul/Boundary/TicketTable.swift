internal import CBackhaul
internal import Synchronization

/// The Swift tasks that wait for started verbs. A *verb* is a function of the library that sends a command to the
/// engine. A *ticket* stands for a started verb, and returns its result. The *driver* is the application's one thread.
/// It waits for the library, and reports the ended tickets to this table.
final class TicketTable: Sendable {
    private enum Entry {
        /// A Swift task waits for the ticket until this time. If the time is nil, the wait has no limit, because the
        /// verb itself waits until the session has no other consumer.
        case waiting(CheckedContinuation<Void, any Error>, until: SuspendingClock.Instant?)
        /// The Swift task was cancelled before it began to wait.
        case cancelled
        /// The Swift task no longer waits for the ticket. The ticket is released when its verb ends.
        case abandoned
    }

    private struct State {
        var entries: [Handle: Entry] = [:]
        /// The tickets whose verbs ended before a Swift task waited for them.
        var early: Set<Handle> = []
        /// Whether a wait with a limit has begun since the last call of `needsRechecks`.
        var hasNewLimits = false
        /// Whether the driver's thread now waits without a limit. If so, the next Swift task that begins a wait with a
        /// limit must wake this thread.
        var isDriverUnlimited = false
        var isClosed = false

        /// The outcome of a wait that begins now, or nil if the Swift task must wait.
        mutating func knownOutcome(of ticket: Handle) -> Result<Void, any Error>? {
            if isClosed { return .failure(BackhaulError.closed) }
            if early.remove(ticket) != nil {
                entries[ticket] = nil
                return .success(())
            }
            guard case .cancelled = entries[ticket] else { return nil }
            entries[ticket] = .abandoned
            return .failure(CancellationError())
        }

        /// Notes that a wait with a limit begins. Returns whether the driver's thread must be woken.
        mutating func beginLimit() -> Bool {
            hasNewLimits = true
            defer { isDriverUnlimited = false }
            return isDriverUnlimited
        }
    }

    private let state = Mutex(State())
    private let limit: Duration

    private let wakeDriver: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: The longest wait for a verb.
    ///   - wakeDriver: Ends the present wait of the driver's thread.
    init(limit: Duration, wakeDriver: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.wakeDriver = wakeDriver
    }

    /// Whether the driver must call `expire` again soon. If the result is false, the driver may wait without a limit:
    /// the next Swift task that begins a wait with a limit wakes the driver.
    ///
    /// If a wait with a limit began since the last call, the result is true even if this wait is over. So a program
    /// that calls one verb after the other does not wake the driver for each verb.
    func needsRechecks() -> Bool {
        state.withLock { state in
            let hasLimits = state.entries.values.contains { if case .waiting(_, .some) = $0 { true } else { false } }
            let needsRechecks = hasLimits || state.hasNewLimits
            state.hasNewLimits = false
            state.isDriverUnlimited = !needsRechecks
            return needsRechecks
        }
    }

    /// Waits until the verb of the ticket has ended.
    ///
    /// If the Swift task is cancelled, the method throws immediately. The verb continues, and its outcome is dropped.
    /// If the verb has not ended within the limit, the method throws `.timeout` or `.engineUnresponsive`.
    ///
    /// - Parameter isUnlimited: Whether the wait has no limit.
    func wait(for ticket: Handle, isUnlimited: Bool) async throws {
        // If the Swift task is cancelled after the ticket has ended, `cancel` adds an entry. This statement removes
        // that entry.
        defer { forgetCancellation(of: ticket) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                var wakesDriver = false
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if let outcome = state.knownOutcome(of: ticket) { return outcome }
                    state.entries[ticket] = .waiting(continuation, until: isUnlimited ? nil : .now.advanced(by: limit))
                    if !isUnlimited { wakesDriver = state.beginLimit() }
                    return nil
                }
                if wakesDriver { wakeDriver() }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func cancel(_ ticket: Handle) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state.entries[ticket] {
            case .waiting(let continuation, _):
                state.entries[ticket] = .abandoned
                return continuation
            case nil:
                // The Swift task does not wait yet, or no longer waits.
                if !state.early.contains(ticket) && !state.isClosed { state.entries[ticket] = .cancelled }
                return nil
            case .cancelled, .abandoned: return nil
            }
        }
        continuation?.resume(throwing: CancellationError())
    }

    private func forgetCancellation(of ticket: Handle) {
        state.withLock { state in
            if case .cancelled = state.entries[ticket] { state.entries[ticket] = nil }
        }
    }

    /// Resumes the Swift task that waits for the ticket. The driver calls this method one time for each ended ticket.
    func ended(_ ticket: Handle) {
        let entry: Entry? = state.withLock { state in
            switch state.entries[ticket] {
            case nil, .cancelled:
                state.early.insert(ticket)
                return nil
            case let entry:
                state.entries[ticket] = nil
                return entry
            }
        }
        switch entry {
        case .waiting(let continuation, _): continuation.resume()
        case .abandoned: bh_ticket_release(ticket.pointer)
        case .cancelled, nil: break
        }
    }

    /// Releases a ticket for which no Swift task waits any more. The driver calls this method on its thread.
    func drop(_ ticket: Handle) {
        let isOurs = state.withLock { state in
            guard case .abandoned = state.entries[ticket] else { return false }
            state.entries[ticket] = nil
            return true
        }
        if isOurs { bh_ticket_release(ticket.pointer) }
    }

    /// Ends the waits whose limit has passed. The driver calls this method after it has delivered the ended tickets.
    func expire() {
        let now = SuspendingClock.Instant.now
        let late = state.withLock { state in
            state.entries.filter { if case .waiting(_, let limit?) = $0.value { limit <= now } else { false } }
        }
        for (ticket, entry) in late {
            do throws(BackhaulError) {
                // If this call does not throw, the ticket has just ended. The driver then delivers the ticket in the
                // next iteration of its loop.
                try check { error in bh_ticket_wait(ticket.pointer, 0, error) }
            } catch {
                guard error.status == .timeout || error.status == .engineUnresponsive else { continue }
                // The Swift task may have been cancelled after the list `late` was made. Such a task is already
                // resumed.
                let isOurs = state.withLock { state in
                    guard case .waiting = state.entries[ticket] else { return false }
                    state.entries[ticket] = .abandoned
                    return true
                }
                if isOurs, case .waiting(let continuation, _) = entry {
                    continuation.resume(throwing: error.status == .timeout ? TicketTable.late(error) : error)
                }
            }
        }
    }

    /// Replaces the message of the library, because that message mentions a ticket. Swift callers have no ticket.
    private static func late(_ error: BackhaulError) -> BackhaulError {
        BackhaulError(
            BH_TIMEOUT, domain: error.domain.rawValue, detail: error.detail,
            message: "the engine did not reply within the application's time-out; the operation continues")
    }

    /// Ends all waits with an error. Later waits throw. The library releases the tickets when it closes the
    /// application.
    func close() {
        let waiting = state.withLock { state in
            let entries = state.entries.values
            state.entries = [:]
            state.early = []
            state.isClosed = true
            return Array(entries)
        }
        for case .waiting(let continuation, _) in waiting { continuation.resume(throwing: BackhaulError.closed) }
    }
}
