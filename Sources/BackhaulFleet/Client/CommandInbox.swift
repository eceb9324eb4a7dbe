internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform

/// The messages of a client that the thread of its remote store has not handled yet.
final class CommandInbox: ClientTransport {
    private struct State {
        var messages: [ClientMessage] = []
        var isClosed = false
    }

    enum Next {
        case messages([ClientMessage])
        case closed
        case timedOut
    }

    private let state = Lock(State())

    func send(_ message: ClientMessage) { state.change { $0.messages.append(message) } }

    func close() { state.change { $0.isClosed = true } }

    /// Waits for messages. The messages before a close are returned first.
    func next(until deadline: Deadline) -> Next {
        state.wait(until: deadline) { state in
            guard state.messages.isEmpty else {
                defer { state.messages = [] }
                return .messages(state.messages)
            }
            return state.isClosed ? .closed : nil
        } ?? .timedOut
    }
}
