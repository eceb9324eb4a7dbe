internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

// MARK: Poll

/// Polls for events, which are stored messages of the engine for the host. If the deadline is nil, the poll does not
/// wait, and returns the available events.
private func poll(
    _ session: OpaquePointer?, _ after: UInt64, _ maximum: Int, until deadline: Deadline?
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    let after = EventID(hostValue: after)
    let maximum = UInt32(try NumberArgument.count(maximum, "maximum", in: 1...Limits.batchCount))
    let ticket =
        if let deadline {
            session.client.poll(after: after, maximum: maximum, until: deadline)
        } else {
            session.client.poll(after: after, maximum: maximum)
        }
    return StartedVerb(ticket, .batch, session.application)
}

@c @implementation
public func bh_session_poll(
    _ session: OpaquePointer?, _ after: UInt64, _ maximum: Int, _ timeout_ms: Int32,
    _ events: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: events, "events", error) { deadline throws(Failure) in
        try poll(session, after, maximum, until: deadline)
    }
}

// MARK: Acknowledge

@c @implementation
public func bh_session_acknowledge(
    _ session: OpaquePointer?, _ ids: UnsafePointer<UInt64>?, _ count: Int, _ timeout_ms: Int32,
    _ acknowledged: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, count: acknowledged, error) { client throws(Failure) in
        let ids = try NumberArgument.array(ids, "ids", count: count, "count", limit: Limits.idCount)
        return client.acknowledge(.ids(ids.map(EventID.init(hostValue:))))
    }
}

@c @implementation
public func bh_session_acknowledge_through(
    _ session: OpaquePointer?, _ id: UInt64, _ timeout_ms: Int32, _ acknowledged: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, count: acknowledged, error) {
        $0.acknowledge(.through(EventID(hostValue: id)))
    }
}
