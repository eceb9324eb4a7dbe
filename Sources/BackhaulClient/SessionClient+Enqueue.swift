public import BackhaulModel
public import BackhaulPlatform

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
        EnqueueOperation(handle: handle, application: application, ticket: ticket).end(all)
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
            case .free: operation.send(chunk)
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
                operation.end(remaining, failure)
                return ticket
            }
        }
        let last = chunks.take()
        if !last.isEmpty { _ = sendChunk(last) }
        operation.end(remaining)
        return ticket
    }
}
