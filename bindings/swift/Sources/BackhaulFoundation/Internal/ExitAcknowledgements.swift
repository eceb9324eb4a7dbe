internal import Backhaul
internal import Foundation

/// Acknowledges, at the exit of the program, the events whose last delegate call has begun. A program may call exit()
/// in `didCompleteWithError`, or in another thread that waits for this call. Then the call does not return before the
/// exit. Without the acknowledgement, the next run of the program would get the delegate calls for the task again.
enum ExitAcknowledgements {
    private struct State {
        var isRegistered = false
        var begun: [EventID: @Sendable () -> Void] = [:]
    }

    private static let state = Locked(State())

    /// Records that the last delegate call for an event's task begins.
    static func begin(_ event: EventID, _ acknowledge: @escaping @Sendable () -> Void) {
        let isFirst = state.with { state in
            state.begun[event] = acknowledge
            defer { state.isRegistered = true }
            return !state.isRegistered
        }
        if isFirst { atexit { ExitAcknowledgements.perform() } }
    }

    /// Records that the delivering thread has acknowledged the event itself.
    static func end(_ event: EventID) { state.with { $0.begun[event] = nil } }

    private static func perform() {
        for acknowledge in state.with({ Array($0.begun.values) }) { acknowledge() }
    }
}
