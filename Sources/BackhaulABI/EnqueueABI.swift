internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
public import CBackhaul

// Unsafe: the host promises that what it passes can be read, and its out parameters written, until the call returns.

/// Copies all requests first.
private func enqueue(
    _ session: OpaquePointer?, _ requests: UnsafePointer<bh_request>?, _ count: Int, _ stride: Int
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    let requests = try RequestArgument.read(requests, count: count, stride: stride)
    return StartedVerb(session.client.enqueue(requests), .enqueue(count), session.application)
}

/// Checks all requests first and keeps none: they are converted again as they go out. What fits in one chunk is copied.
private func enqueue(
    _ session: OpaquePointer?, _ requests: UnsafePointer<bh_request>?, _ count: Int, _ stride: Int,
    until deadline: Deadline
) throws(Failure) -> StartedVerb {
    guard count > Limits.chunkCount else { return try enqueue(session, requests, count, stride) }
    let session = try SessionHandle(session)
    var array = try RequestArray(requests, count: count, stride: stride)
    try array.check()
    let ticket = session.client.enqueue(count: count, until: deadline) { index throws(Failure) in
        try array.request(at: index, isChecked: true)
    }
    return StartedVerb(ticket, .enqueue(count), session.application)
}

@c @implementation
public func bh_session_enqueue(
    _ session: OpaquePointer?, _ requests: UnsafePointer<bh_request>?, _ count: Int, _ stride: Int,
    _ timeout_ms: Int32, _ results: UnsafeMutablePointer<bh_enqueued>?, _ applied: UnsafeMutablePointer<Int>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    // An impossible count tells nothing about the room.
    let room = results != nil && (0...Limits.enqueueCount).contains(count) ? count : 0
    let output = EnqueueResults(results, room: room, applied)
    output.fill(EnqueuedList(), nil)
    return Call.blocking(timeout_ms, error) { deadline throws(Failure) in
        do throws(Failure) {
            let verb = try enqueue(session, requests, count, stride, until: deadline)
            // What the results say if the engine does not answer in time.
            output.fill(EnqueuedList(), Failure(.timeout, ""))
            return verb
        } catch let failure {
            output.fill(EnqueuedList(), failure)
            throw failure
        }
    } deliver: { _, outcome throws(Failure) in
        guard case .enqueued(let enqueued, let failure) = outcome else { return }
        output.fill(enqueued, failure)
        if let failure { throw failure }
    }
}

@c @implementation
public func bh_session_enqueue_start(
    _ session: OpaquePointer?, _ requests: UnsafePointer<bh_request>?, _ count: Int, _ stride: Int,
    _ ticket: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.started(ticket, error) { () throws(Failure) in try enqueue(session, requests, count, stride) }
}
