internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

@c @implementation
public func bh_session_challenges(
    _ session: OpaquePointer?, _ timeout_ms: Int32, _ challenges: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: challenges, "challenges", error) {
        $0.submit { .challenges($0) }
    }
}

@c @implementation
public func bh_session_respond(
    _ session: OpaquePointer?, _ challenge_id: UInt64, _ response: UnsafePointer<bh_challenge_response>?,
    _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { client throws(Failure) in
        let (response, life) = try ChallengeResponseArgument.read(response)
        return client.submit { .respond($0, ChallengeID(hostValue: challenge_id), response, life) }
    }
}
