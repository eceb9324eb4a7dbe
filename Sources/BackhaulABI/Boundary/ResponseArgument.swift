internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that a struct it passes, and all it points to, can be read until the call returns; all of
// it is copied here.

/// `bh_response`.
enum ResponseArgument {
    private static let firstSize = StructArgument.end(of: \bh_response.header_count)

    static func read(_ pointer: UnsafePointer<bh_response>?) throws(Failure) -> ChallengeResponse {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "response"), "response", into: bh_response(), firstSize: firstSize)
        let response: ChallengeResponse
        switch Int(given.kind) {
        case BH_RESPOND_REFUSE: response = .refuse
        case BH_RESPOND_CREDENTIAL:
            response = .credential(
                user: try TextArgument.required(given.user, "response.user", limit: Limits.credentialSize),
                password: try TextArgument.bounded(
                    NumberArgument.required(given.password, "response.password"), "response.password",
                    limit: Limits.credentialSize))
        case BH_RESPOND_HEADERS: response = .headers(try HeaderArgument.read(given.headers, given.header_count))
        default:
            throw Failure(
                .invalidArgument,
                "response.kind is \(given.kind); give BH_RESPOND_REFUSE, BH_RESPOND_CREDENTIAL or BH_RESPOND_HEADERS")
        }
        try ResponseCheck.check(response)
        return response
    }
}
