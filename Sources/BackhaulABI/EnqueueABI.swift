internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

/// Checks all requests, and then sends them to the engine, which stores them as tasks. A call that waits copies a large
/// array in chunks, and sends each chunk before it copies the next one. A call that only starts the operation copies
/// the whole array first: after the call, the host may free the array.
@c @implementation
public func bh_session_enqueue(
    _ session: OpaquePointer?, _ requests: UnsafePointer<bh_request>?, _ count: Int, _ timeout_ms: Int32,
    _ results: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error) { deadline throws(Failure) in
        // If the call fails before the engine has processed a request, `results` becomes NULL. A call that only starts
        // the operation does not write `results`.
        if deadline != nil { results?.pointee = nil }
        let session = try SessionHandle(session)
        guard let deadline, count > Limits.chunkCount else {
            let requests = try RequestArgument.read(requests, count: count)
            return StartedVerb(session.client.enqueue(requests), .enqueue, session.application)
        }
        var array = try RequestArray(requests, count: count)
        try array.check()
        let ticket = session.client.enqueue(count: count, until: deadline) { index throws(Failure) in
            try array.request(at: index, isChecked: true)
        }
        return StartedVerb(ticket, .enqueue, session.application)
    } deliver: { verb, outcome throws(Failure) in
        if let results { return try verb.deliverBatch(outcome, to: results) }
        if case .enqueued(_, let failure?) = outcome { throw failure }
    }
}
