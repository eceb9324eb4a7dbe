internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that a struct it passes, and all it points to, can be read until the call returns; all of
// it is copied here.

/// `bh_policy`, and the parts that it shares with `bh_session_configuration`.
enum PolicyArgument {
    private static let firstSize = StructArgument.end(of: \bh_policy.bytes_per_second)

    static func read(_ pointer: UnsafePointer<bh_policy>?) throws(Failure) -> TaskPolicy {
        guard let pointer else { return TaskPolicy() }
        let given = try StructArgument.read(pointer, "policy", into: bh_policy(), firstSize: firstSize)
        var policy = try read(given.retry, given.rules)
        policy.bytesPerSecond = unlessZero(given.bytes_per_second)
        policy.constraints = try ConstraintsArgument.read(given.constraints)
        return policy
    }

    /// What is not given is nil.
    static func read(_ retry: bh_retry_policy, _ rules: bh_transfer_rules) throws(Failure) -> TaskPolicy {
        try StructArgument.checkReserved(retry.reserved.0, retry.reserved.1, in: "retry")
        try StructArgument.checkReserved(rules.reserved.0, rules.reserved.1, in: "rules")
        var policy = TaskPolicy()
        policy.maximumAttempts = unlessZero(retry.maximum_attempts)
        policy.firstRetryDelayMilliseconds = unlessZero(retry.first_delay_ms)
        policy.longestRetryDelayMilliseconds = unlessZero(retry.longest_delay_ms)
        policy.retryJitterPercent = unlessZero(retry.jitter_percent)
        policy.retryErrors = unlessZero(retry.errors).map(RetryErrors.init)
        policy.retriesUnsafeMethods = try choice(retry.unsafe_methods, "retry.unsafe_methods")
        policy.retryStatuses = try statuses(retry.statuses, "retry.statuses")
        policy.acceptedStatuses = try statuses(rules.accepted_statuses, "accepted_statuses")
        policy.requestTimeoutMilliseconds = unlessZero(rules.request_timeout_ms)
        policy.resourceTimeoutMilliseconds = unlessZero(rules.resource_timeout_ms)
        policy.httpVersion = try httpVersion(rules.http_version)
        policy.redirects = try redirects(rules.redirects)
        policy.maximumRedirects = unlessZero(rules.maximum_redirects)
        policy.maximumSize = unlessZero(rules.maximum_size)
        return policy
    }

    /// 0 stands for "not given".
    static func unlessZero<Number: FixedWidthInteger>(_ number: Number) -> Number? { number == 0 ? nil : number }

    static func choice(_ given: Int32, _ name: String) throws(Failure) -> Bool? {
        switch Int(given) {
        case BH_DEFAULT: return nil
        case BH_YES: return true
        case BH_NO: return false
        default: throw Failure(.invalidArgument, "\(name) is \(given); give BH_DEFAULT, BH_YES or BH_NO")
        }
    }

    private static func statuses(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> StatusList? {
        guard let text = try TextArgument.optional(pointer, name, limit: StatusList.sizeMaximum) else { return nil }
        guard let list = StatusList(text) else {
            throw Failure(
                .invalidArgument, "\(name) is no list of statuses of 100 to 599 and ranges, such as \"200-299,404\"")
        }
        return list
    }

    private static func httpVersion(_ number: Int32) throws(Failure) -> HTTPVersion? {
        guard number != 0 else { return nil }
        return try NumberArgument.value(number, "http_version", of: "one of BH_HTTP_…")
    }

    private static func redirects(_ number: Int32) throws(Failure) -> RedirectPolicy? {
        guard number != 0 else { return nil }
        return try NumberArgument.value(number, "redirects", of: "one of BH_REDIRECTS_…")
    }
}
