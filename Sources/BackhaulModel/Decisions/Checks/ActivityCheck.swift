/// Checks of an activity, which is work that repeats. An activity may have a request, from which each start makes a
/// task. This request must also pass `RequestCheck`.
public enum ActivityCheck {
    public static func check(_ activity: Activity) throws(Failure) {
        let size = activity.identifier.utf8.count
        guard (1...Limits.identifierSize).contains(size) else {
            throw invalid("the activity's identifier has \(size) bytes; 1 to \(Limits.identifierSize) are allowed")
        }
        guard activity.identifier.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw invalid("the activity's identifier has a control character")
        }
        try FieldCheck.range(activity.intervalMilliseconds, 1_000...Limits.resourceTimeout.upperBound, "interval_ms")
        guard activity.toleranceMilliseconds < activity.intervalMilliseconds else {
            throw invalid(
                "tolerance_ms is \(activity.toleranceMilliseconds), not less than interval_ms, "
                    + "\(activity.intervalMilliseconds)")
        }
        try FieldCheck.time(activity.firstMilliseconds, "first_ms")
        if let request = activity.request { try check(request) }
    }

    /// Checks the request from which each start of the activity makes a task.
    private static func check(_ request: Request) throws(Failure) {
        guard request.idempotencyKey == nil else {
            throw invalid("the activity's request sets idempotency_key, which only one task can have")
        }
        let options = request.options
        guard options.earliestStartMilliseconds == nil, options.latestStartMilliseconds == nil else {
            throw invalid("the activity's request sets earliest_start_ms or latest_start_ms: the window sets both")
        }
        guard !request.startsSuspended else {
            throw invalid("the activity's request sets BH_REQUEST_STARTS_SUSPENDED: its tasks would stay suspended")
        }
        if request.destination != nil, !options.isNamedByServer, request.ifExists != .replace {
            throw invalid(
                "the activity's request makes the same file each time; give if_exists BH_IF_EXISTS_REPLACE, or let the "
                    + "server name it")
        }
        guard options.dependencies.isEmpty else {
            throw invalid("the activity's request sets after: an activity starts at its times, and not after a task")
        }
        switch options.body {
        case nil, .bytes: return
        case .file, .form:
            throw invalid("the activity's request has a file or parts as its body; give bytes from memory")
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
