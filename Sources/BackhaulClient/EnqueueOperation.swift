public import BackhaulModel
public import BackhaulPlatform
internal import BackhaulWire

/// Sends requests in chunks to the engine, which stores them as tasks (enqueues them). Each chunk is applied completely
/// or not at all. A few chunks are sent before the first of them has a reply. The first refused chunk ends the enqueue.
extension SessionClient {
    public func enqueue(_ requests: [Request]) -> Ticket {
        if let failure { return application.completedTicket(.failed(failure)) }
        let ticket = application.makeTicket()
        var chunks = RequestChunks()
        var all: [[Request]] = []
        for request in requests { if let full = chunks.append(request) { all.append(full) } }
        let last = chunks.take()
        if !last.isEmpty { all.append(last) }
        EnqueueOperation(handle: handle, application: application, ticket: ticket).send(all, isLast: true)
        return ticket
    }

    /// Enqueues `count` requests. The call runs `make` in the calling thread for each position, one after the other,
    /// and returns when all requests were sent. So only the requests of a few chunks are in memory at a time. If the
    /// deadline passes before all requests were sent, the call makes the remaining requests without waiting, and they
    /// are sent later. If `make` throws, the requests of the present chunk are not applied, and the failure has the
    /// position as its index.
    public func enqueue(
        count: Int, until deadline: Deadline, _ make: (Int) throws(Failure) -> Request
    ) -> Ticket {
        if let failure { return application.completedTicket(.failed(failure)) }
        let ticket = application.makeTicket()
        let operation = EnqueueOperation(handle: handle, application: application, ticket: ticket)
        var chunks = RequestChunks(first: 512)
        var remaining: [[Request]] = []
        /// Returns false if no further chunk may be sent.
        func sendChunk(_ chunk: [Request]) -> Bool {
            guard remaining.isEmpty else {
                remaining.append(chunk)
                return true
            }
            switch operation.waitForSlot(until: deadline) {
            case .free: operation.send([chunk], isLast: false)
            case .timedOut: remaining.append(chunk)
            case .refused: return false
            }
            return true
        }
        for index in 0..<max(0, count) {
            do throws(Failure) {
                if let full = chunks.append(try make(index)), !sendChunk(full) { break }
            } catch var failure {
                failure.index = UInt64(index)
                operation.send(remaining, isLast: true, failure)
                return ticket
            }
        }
        let last = chunks.take()
        if !last.isEmpty { _ = sendChunk(last) }
        operation.send(remaining, isLast: true)
        return ticket
    }
}

/// An enqueue of many requests, which become tasks. The client sends the requests in chunks to the engine, which runs
/// the tasks. The client does not wait for the reply to each chunk, so the engine can commit one chunk while the client
/// sends another. At most `maximumChunksInFlight` sent chunks have no reply, so little memory is needed. The first
/// refused chunk ends the enqueue.
final class EnqueueOperation: Sendable {
    private static let maximumChunksInFlight = 4

    struct State {
        /// The number of chunks that were sent and have no reply yet.
        var open = 0
        /// The number of requests in each sent chunk. `applied`: the results of applied chunks, by the number of the
        /// chunk.
        var counts: [Int] = []
        var applied: [Int: EnqueuedList] = [:]
        var firstFailure: (chunk: Int, failure: Failure)?
        /// The chunks that were not sent yet, in reverse order.
        var remaining: [[Request]] = []
        var isEnded = false
        var isCompleted = false
        /// Whether a thread sends a chunk. Only one thread at a time sends chunks, so that they keep their order.
        private var isSending = false

        var hasFreeSlot: Bool { open < EnqueueOperation.maximumChunksInFlight }
        /// Whether the next chunk comes before the first failure.
        private var mayContinue: Bool { firstFailure.map { counts.count < $0.chunk } ?? true }

        /// Removes and returns the next chunk, with its number. Nil if no chunk may be sent now. When the caller has
        /// sent the chunk, it calls `sent`, and then asks for the next chunk.
        mutating func nextChunk() -> (number: Int, requests: [Request])? {
            guard !isSending, mayContinue, hasFreeSlot, let chunk = remaining.popLast() else { return nil }
            isSending = true
            open += 1
            counts.append(chunk.count)
            return (counts.count - 1, chunk)
        }

        mutating func sent() { isSending = false }

        mutating func replied(_ chunk: Int, _ reply: Reply) {
            open -= 1
            switch reply {
            case .enqueued(let items): applied[chunk] = EnqueuedList(items)
            case .failed(var failure):
                // An index outside the chunk comes from a faulty engine, and counts as the first position.
                let index = failure.index ?? 0
                let start = counts[..<chunk].reduce(0, +)
                failure.index = UInt64(start) + (index < UInt64(counts[chunk]) ? index : 0)
                if firstFailure.map({ chunk < $0.chunk }) ?? true { firstFailure = (chunk, failure) }
            default:
                firstFailure = (chunk, Failure(.internal, "the engine replied to another command"))
            }
        }

        /// The outcome, one time after the last chunk has its reply.
        mutating func takeOutcome() -> Ticket.Outcome? {
            guard isEnded, open == 0, remaining.isEmpty || !mayContinue, !isCompleted else { return nil }
            isCompleted = true
            // Chunks after a refused chunk may have been applied already. The outcome also has the results of these
            // chunks.
            var items = EnqueuedList()
            for (chunk, count) in counts.enumerated() {
                items.append(contentsOf: applied[chunk] ?? EnqueuedList(notApplied: count))
            }
            return .enqueued(items, firstFailure?.failure)
        }
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
            return state.hasFreeSlot && state.remaining.isEmpty ? .free : nil
        } ?? .timedOut
    }

    /// Sends chunks, each as soon as few enough earlier chunks have no reply. `isLast`: whether the caller passes no
    /// further chunks. `failure`: why the caller could not make the next request.
    func send(_ chunks: [[Request]], isLast: Bool, _ failure: Failure? = nil) {
        state.withLock { state in
            state.remaining = chunks.reversed() + state.remaining
            state.isEnded = state.isEnded || isLast
            if let failure, state.firstFailure == nil {
                state.firstFailure = (state.counts.count + state.remaining.count, failure)
            }
        }
        while let chunk = state.withLock({ $0.nextChunk() }) {
            // Not under the lock: a closed client replies at once, in this thread.
            application.send(.enqueue(handle, chunk.requests)) { self.replied(chunk.number, $0) }
            state.withLock { $0.sent() }
        }
        if let outcome = state.withLock({ $0.takeOutcome() }) { ticket.complete(with: outcome) }
    }

    private func replied(_ chunk: Int, _ reply: Reply) {
        state.change { $0.replied(chunk, reply) }
        send([], isLast: false)
    }
}

/// Divides requests into chunks that fit in a *frame*: one message to the engine, which stores the requests as tasks.
struct RequestChunks {
    private var chunk: [Request] = []
    private var size = 0
    /// The largest number of requests in the present chunk.
    private var limit: Int

    /// - first: the largest number of requests in the first chunk. A small first chunk is soon in the store, and its
    /// tasks start while the other chunks are sent.
    init(first: Int = Limits.chunkCount) { limit = first }

    /// Adds a request. If the present chunk has no room for it, returns that chunk and starts a new one.
    mutating func append(_ request: Request) -> [Request]? {
        let estimatedSize = request.estimatedSize
        let isFull = chunk.count >= limit || (!chunk.isEmpty && size + estimatedSize > Limits.chunkSize)
        let full = isFull ? take() : nil
        chunk.append(request)
        size += estimatedSize
        return full
    }

    /// Returns the last chunk, and starts a new one.
    mutating func take() -> [Request] {
        defer {
            chunk = []
            size = 0
            limit = Limits.chunkCount
        }
        return chunk
    }
}

extension Request {
    /// The approximate size of the encoded request, in bytes.
    fileprivate var estimatedSize: Int {
        // The options have many texts and lists. A sum of their sizes would easily miss some of them.
        if hasOptions { return Wire.encodeRequest(self).count }
        var estimatedSize = 64 + url.utf8.count + (destination?.path.utf8.count ?? 0) + (userData?.count ?? 0)
        estimatedSize += idempotencyKey?.utf8.count ?? 0
        for field in headers { estimatedSize += 8 + field.name.utf8.count + field.value.utf8.count }
        return estimatedSize
    }
}
