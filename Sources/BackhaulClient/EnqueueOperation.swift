internal import BackhaulModel
internal import BackhaulPlatform

/// A large enqueue as a row of chunks. A few are under way at a time, so that the engine commits one while the next is
/// on its way; the first refusal ends it with the applied prefix.
final class EnqueueOperation: Sendable {
    private static let underWay = 4

    private struct State {
        var nextChunk = 0
        var open = 0
        var applied: [Int: [Enqueued]] = [:]
        var firstFailure: (chunk: Int, failure: Failure)?
    }

    private let requests: [Request]
    /// Where each chunk begins, and the end.
    private let bounds: [Int]
    private let handle: HandleID
    private let application: ApplicationClient
    private let ticket: Ticket
    private let state = Lock(State())

    init(requests: [Request], handle: HandleID, application: ApplicationClient, ticket: Ticket) {
        self.requests = requests
        self.handle = handle
        self.application = application
        self.ticket = ticket
        bounds = Self.chunks(requests)
    }

    private static func chunks(_ requests: [Request]) -> [Int] {
        var bounds = [0]
        var size = 0
        for (index, request) in requests.enumerated() {
            let weight = request.weight
            let count = index - (bounds.last ?? 0)
            if count >= Limits.chunkCount || (count > 0 && size + weight > Limits.chunkSize) {
                bounds.append(index)
                size = 0
            }
            size += weight
        }
        bounds.append(requests.count)
        return bounds
    }

    func start() {
        guard !requests.isEmpty else {
            ticket.answer(.enqueued([], nil))
            return
        }
        proceed()
    }

    private func proceed() {
        while true {
            let chunk: Int? = state.withLock { state in
                guard state.firstFailure == nil, state.open < Self.underWay, state.nextChunk < bounds.count - 1 else {
                    return nil
                }
                defer {
                    state.nextChunk += 1
                    state.open += 1
                }
                return state.nextChunk
            }
            guard let chunk else { break }
            application.send(.enqueue(handle, Array(requests[bounds[chunk]..<bounds[chunk + 1]]))) { reply in
                self.answered(chunk, reply)
            }
        }
    }

    private func answered(_ chunk: Int, _ reply: Reply) {
        let isOver = state.withLock { state in
            state.open -= 1
            switch reply {
            case .enqueued(let items): state.applied[chunk] = items
            case .failed(var failure):
                failure.index = failure.index.map { $0 + UInt64(bounds[chunk]) } ?? UInt64(bounds[chunk])
                if state.firstFailure.map({ chunk < $0.chunk }) ?? true { state.firstFailure = (chunk, failure) }
            default:
                state.firstFailure = (chunk, Failure(.internal, "the engine answered another command"))
            }
            let isDone = state.firstFailure != nil || state.nextChunk == bounds.count - 1
            return isDone && state.open == 0
        }
        if isOver { finish() } else { proceed() }
    }

    private func finish() {
        let (items, failure) = state.withLock { state in
            // Chunks after a refused one may have been applied already: their items are told, too.
            let items = (0..<bounds.count - 1).flatMap { chunk in
                state.applied[chunk]
                    ?? Array(
                        repeating: Enqueued(task: .zero, disposition: .notApplied),
                        count: bounds[chunk + 1] - bounds[chunk])
            }
            return (items, state.firstFailure?.failure)
        }
        ticket.answer(.enqueued(items, failure))
    }
}

extension Request {
    /// About how many bytes it takes on the wire.
    fileprivate var weight: Int {
        var weight = 64 + url.utf8.count + (destination?.path.utf8.count ?? 0) + (userData?.count ?? 0)
        for field in headers { weight += 8 + field.name.utf8.count + field.value.utf8.count }
        return weight
    }
}
