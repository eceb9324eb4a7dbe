internal import BackhaulEngine
internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the struct, and all data that it points to, can be read until the call returns. All
// of it is copied here.

/// Reads `bh_challenge_response`.
enum ChallengeResponseArgument {
    private static let minimumSize = StructArgument.end(of: \bh_challenge_response.expires_ms)

    static func read(
        _ pointer: UnsafePointer<bh_challenge_response>?
    ) throws(Failure) -> (ChallengeResponse, CredentialLifetime) {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "response"), "response", into: bh_challenge_response(),
            minimumSize: minimumSize)
        let response: ChallengeResponse
        switch Int(given.kind) {
        case BH_RESPOND_REFUSE: response = .refuse
        case BH_RESPOND_CREDENTIAL:
            response = .credential(
                user: try TextArgument.bounded(
                    NumberArgument.required(given.user, "response.user"), "response.user",
                    limit: Limits.credentialSize),
                password: try TextArgument.bounded(
                    NumberArgument.required(given.password, "response.password"), "response.password",
                    limit: Limits.credentialSize))
        case BH_RESPOND_HEADERS: response = .headers(try HeaderArgument.read(given.headers, given.header_count))
        case BH_RESPOND_DEFAULT: response = .standard
        case BH_RESPOND_URL:
            response = .url(
                try RequestIntake.ascii(url: TextArgument.required(given.url, "response.url", limit: Limits.urlSize)))
        default: throw Failure(.invalidArgument, "response.kind is \(given.kind); give one of BH_RESPOND_…")
        }
        let unknown = given.flags & ~UInt32(BH_RESPOND_AND_KEEP)
        guard unknown == 0 else {
            throw Failure(.invalidArgument, "response.flags has the unknown bits 0x\(String(unknown, radix: 16))")
        }
        let lifetime = CredentialLifetime(
            expiresMilliseconds: PolicyArgument.unlessZero(given.expires_ms),
            isKept: given.flags & UInt32(BH_RESPOND_AND_KEEP) != 0)
        try ResponseCheck.check(response, lifetime)
        return (response, lifetime)
    }
}
