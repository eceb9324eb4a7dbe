public import BackhaulModel
public import BackhaulPlatform

/// In atomic chunks, a few of them under way at a time; ends at the first that is refused.
extension SessionClient {
    public func enqueue(_ requests: [Request]) -> Ticket {
        if let failure { return application.answered(.failed(failure)) }
        let ticket = application.makeTicket()
        var chunks = RequestChunks()
        var all: [[Request]] = []
        for request in requests { if let full = chunks.append(request) { all.append(full) } }
        let last = chunks.take()
        if !last.isEmpty { all.append(last) }
        EnqueueOperation(handle: handle, application: application, ticket: ticket).end(all)
        return ticket
    }

    /// Requests that `make` makes one by one, by their position, in the calling thread: no more of them are in memory
    /// than are under way. Returns when all were sent; after the deadline the rest is made at once and goes out by
    /// itself. What `make` throws refuses the chunk it falls into, and its position is the failure's index.
    public func enqueue(
        count: Int, until deadline: Deadline, _ make: (Int) throws(Failure) -> Request
    ) -> Ticket {
        if let failure { return application.answered(.failed(failure)) }
        let ticket = application.makeTicket()
        let operation = EnqueueOperation(handle: handle, application: application, ticket: ticket)
        var chunks = RequestChunks(first: 512)
        var rest: [[Request]] = []
        /// False when no more is wanted.
        func pass(_ chunk: [Request]) -> Bool {
            guard rest.isEmpty else {
                rest.append(chunk)
                return true
            }
            switch operation.waitForRoom(until: deadline) {
            case .free: operation.send(chunk)
            case .timeIsUp: rest.append(chunk)
            case .notWanted: return false
            }
            return true
        }
        for index in 0..<max(0, count) {
            do throws(Failure) {
                if let full = chunks.append(try make(index)), !pass(full) { break }
            } catch var failure {
                failure.index = UInt64(index)
                operation.end(rest, failure)
                return ticket
            }
        }
        let last = chunks.take()
        if !last.isEmpty { _ = pass(last) }
        operation.end(rest)
        return ticket
    }
}
