internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that a struct it passes, and all it points to, can be read until the call returns; all of
// it is copied here.

/// `bh_policy`, and the fields of it that a session has, too.
enum PolicyArgument {
    private static let firstSize = StructArgument.end(of: \bh_policy.bytes_per_second)

    static func read(_ pointer: UnsafePointer<bh_policy>?) throws(Failure) -> TaskPolicy {
        guard let pointer else { return TaskPolicy() }
        let given = try StructArgument.read(pointer, "policy", into: bh_policy(), firstSize: firstSize)
        var policy = TaskPolicy()
        policy.maximumAttempts = unlessZero(given.maximum_attempts)
        policy.firstRetryDelayMilliseconds = unlessZero(given.first_retry_delay_ms)
        policy.longestRetryDelayMilliseconds = unlessZero(given.longest_retry_delay_ms)
        policy.retryJitterPercent = unlessZero(given.retry_jitter_percent)
        policy.retryErrors = unlessZero(given.retry_errors).map(RetryErrors.init)
        policy.retriesUnsafeMethods = try choice(given.retries_unsafe_methods, "retries_unsafe_methods")
        policy.retryStatuses = try statuses(given.retry_statuses, "retry_statuses")
        policy.acceptedStatuses = try statuses(given.accepted_statuses, "accepted_statuses")
        policy.requestTimeoutMilliseconds = unlessZero(given.request_timeout_ms)
        policy.resourceTimeoutMilliseconds = unlessZero(given.resource_timeout_ms)
        policy.httpVersion = try httpVersion(given.http_version)
        policy.redirects = try redirects(given.redirects)
        policy.maximumRedirects = unlessZero(given.maximum_redirects)
        policy.maximumSize = unlessZero(given.maximum_size)
        policy.bytesPerSecond = unlessZero(given.bytes_per_second)
        policy.constraints = try ConstraintsArgument.read(given)
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

    static func statuses(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(Failure) -> StatusList? {
        guard let text = try TextArgument.optional(pointer, name, limit: StatusList.sizeMaximum) else { return nil }
        guard let list = StatusList(text) else {
            throw Failure(
                .invalidArgument, "\(name) is no list of statuses of 100 to 599 and ranges, such as \"200-299,404\"")
        }
        return list
    }

    static func httpVersion(_ number: Int32) throws(Failure) -> HTTPVersion? {
        guard number != 0 else { return nil }
        return try NumberArgument.value(number, "http_version", of: "one of BH_HTTP_…")
    }

    static func redirects(_ number: Int32) throws(Failure) -> RedirectPolicy? {
        guard number != 0 else { return nil }
        return try NumberArgument.value(number, "redirects", of: "one of BH_REDIRECTS_…")
    }
}
