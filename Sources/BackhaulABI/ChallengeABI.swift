internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

private func list(_ session: OpaquePointer?) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    return StartedVerb(session.client.challenges(), .batch, session.application)
}

@c @implementation
public func bh_session_challenges(
    _ session: OpaquePointer?, _ timeout_ms: Int32, _ challenges: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: challenges, "challenges", error) { _ throws(Failure) in try list(session) }
}

private func respond(
    _ session: OpaquePointer?, _ challenge: UInt64, _ response: UnsafePointer<bh_challenge_response>?
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    let (response, life) = try ChallengeResponseArgument.read(response)
    return StartedVerb(
        session.client.respond(ChallengeID(hostValue: challenge), response, life), .empty, session.application)
}

@c @implementation
public func bh_session_respond(
    _ session: OpaquePointer?, _ challenge_id: UInt64, _ response: UnsafePointer<bh_challenge_response>?,
    _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error, { _ throws(Failure) in try respond(session, challenge_id, response) })
}
