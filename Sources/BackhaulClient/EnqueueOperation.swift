internal import BackhaulModel
internal import BackhaulPlatform

/// An enqueue of many requests, which become tasks. The client sends the requests in chunks to the engine, which runs
/// the tasks. The client does not wait for the reply to each chunk, so the engine can commit one chunk while the client
/// sends another. At most `maximumChunksInFlight` sent chunks have no reply, so little memory is needed. The first
/// refused chunk ends the enqueue.
final class EnqueueOperation: Sendable {
    private static let maximumChunksInFlight = 4

    private struct State {
        /// The number of chunks that were sent and have no reply yet.
        var open = 0
        /// The number of requests in each sent chunk. `applied`: the results of applied chunks, by the number of the
        /// chunk.
        var counts: [Int] = []
        var applied: [Int: EnqueuedList] = [:]
        var firstFailure: (chunk: Int, failure: Failure)?
        /// The chunks that the caller has passed to `end` and that were not sent yet, in reverse order.
        var remaining: [[Request]] = []
        var isEnded = false
        var isCompleted = false

        var hasFreeSlot: Bool { open < EnqueueOperation.maximumChunksInFlight }
    }

    private let handle: HandleID
    private let application: ApplicationClient
    private let ticket: Ticket
    private let state = Lock(State())

    init(handle: HandleID, application: ApplicationClient, ticket: Ticket) {
        self.handle = handle
        self.application = application
        self.ticket = ticket
    }

    enum SlotWait {
        case free
        /// A chunk was refused, so no further chunk is sent.
        case refused
        case timedOut
    }

    /// Waits until the caller may send another chunk.
    func waitForSlot(until deadline: Deadline) -> SlotWait {
        state.wait(until: deadline) { state in
            if state.firstFailure != nil { return .refused }
            return state.hasFreeSlot ? .free : nil
        } ?? .timedOut
    }

    func send(_ chunk: [Request]) {
        let (number, start): (Int, Int) = state.withLock { state in
            defer {
                state.open += 1
                state.counts.append(chunk.count)
            }
            return (state.counts.count, state.counts.reduce(0, +))
        }
        application.send(.enqueue(handle, chunk)) { self.replied(number, start, $0) }
    }

    /// Ends the input, because the caller passes no further chunks. The operation sends `remaining` when earlier chunks
    /// have replies. `failure`: why the caller could not make the next request.
    func end(_ remaining: [[Request]] = [], _ failure: Failure? = nil) {
        state.withLock { state in
            state.isEnded = true
            state.remaining = remaining.reversed()
            if let failure, state.firstFailure == nil { state.firstFailure = (state.counts.count, failure) }
        }
        advance()
    }

    private func advance() {
        while true {
            let chunk: [Request]? = state.withLock { state in
                state.firstFailure == nil && state.hasFreeSlot ? state.remaining.popLast() : nil
            }
            guard let chunk else { break }
            send(chunk)
        }
        let outcome: Ticket.Outcome? = state.withLock { state in
            guard state.isEnded, state.open == 0,
                state.firstFailure != nil
                    || state.remaining.isEmpty, !state.isCompleted
            else { return nil }
            state.isCompleted = true
            // Chunks after a refused chunk may have been applied already. The outcome also has the results of these
            // chunks.
            var items = EnqueuedList()
            for (chunk, count) in state.counts.enumerated() {
                items.append(contentsOf: state.applied[chunk] ?? EnqueuedList(notApplied: count))
            }
            return .enqueued(items, state.firstFailure?.failure)
        }
        if let outcome { ticket.complete(with: outcome) }
    }

    private func replied(_ chunk: Int, _ start: Int, _ reply: Reply) {
        state.change { state in
            state.open -= 1
            switch reply {
            case .enqueued(let items): state.applied[chunk] = EnqueuedList(items)
            case .failed(var failure):
                failure.index = UInt64(start) + (failure.index ?? 0)
                if state.firstFailure.map({ chunk < $0.chunk }) ?? true { state.firstFailure = (chunk, failure) }
            default:
                state.firstFailure = (chunk, Failure(.internal, "the engine replied to another command"))
            }
        }
        advance()
    }
}
