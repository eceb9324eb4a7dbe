public import BackhaulModel
public import BackhaulPlatform

/// Enqueues requests in chunks. Each chunk is applied completely or not at all. A few are under way at a time, and the
/// first refused chunk ends the enqueue.
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

    /// Enqueues requests that `make` makes one by one, by their position, in the calling thread. Until the deadline,
    /// only the requests of chunks under way are in memory. The call returns when all were sent. After the deadline it
    /// makes the rest without waiting, and the rest is sent later. If `make` throws, its chunk is refused, and the
    /// position is the failure's index.
    public func enqueue(
        count: Int, until deadline: Deadline, _ make: (Int) throws(Failure) -> Request
    ) -> Ticket {
        if let failure { return application.answered(.failed(failure)) }
        let ticket = application.makeTicket()
        let operation = EnqueueOperation(handle: handle, application: application, ticket: ticket)
        var chunks = RequestChunks(first: 512)
        var rest: [[Request]] = []
        /// Returns false when no further chunk is sent.
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
