import BackhaulModel
import Testing

/// One row: the settings of a session and of a request in this session. If the settings of the request do not
/// contradict those of the session, `names` is empty. Otherwise, `names` has the two fields that the error message
/// names.
struct PolicyRow: CustomTestStringConvertible {
    var testDescription: String
    var names: [String]
    var session = SessionConfiguration(identifier: "s")
    var request = Request(url: "https://example.org/")

    init(
        _ description: String, names: String..., session change: (inout SessionConfiguration) -> Void = { _ in },
        request changeOptions: (inout RequestOptions) -> Void
    ) {
        testDescription = description
        self.names = names
        change(&session)
        changeOptions(&request.options)
    }
}

/// The *policy* of a task is its rules, for example for retries. A request for a task can set these rules. All other
/// rules come from the session.
@Suite("The policy of a task and the settings of its session")
struct PolicyAgainstSessionTests {
    @Test(
        "A request that contradicts its session is refused, and the error names both fields",
        arguments: [
            PolicyRow("no settings in the request") { _ in },
            PolicyRow("a first delay above the longest delay", names: "retry.first_delay_ms", "retry.longest_delay_ms")
            {
                $0.policy.firstRetryDelayMilliseconds = 600_001
            },
            PolicyRow("a first delay equal to the longest delay") { $0.policy.firstRetryDelayMilliseconds = 600_000 },
            PolicyRow("a longest delay below the first delay", names: "retry.first_delay_ms", "retry.longest_delay_ms")
            {
                $0.policy.longestRetryDelayMilliseconds = 999
            },
            PolicyRow("both delays set in the task") {
                $0.policy.firstRetryDelayMilliseconds = 700_000
                $0.policy.longestRetryDelayMilliseconds = 700_000
            },
            PolicyRow("retrying a status that the session accepts", names: "retry.statuses", "accepted_statuses") {
                $0.policy.retryStatuses = StatusList("204,503")
            },
            PolicyRow("retrying a status that the session does not accept") {
                $0.policy.retryStatuses = StatusList("404")
            },
            PolicyRow("accepting a status that the session retries by default") {
                $0.policy.acceptedStatuses = StatusList("200-299,503")
            },
            PolicyRow(
                "accepting a status that the session's list retries", names: "retry.statuses", "accepted_statuses"
            ) {
                $0.retryStatuses = StatusList("404") ?? $0.retryStatuses
            } request: {
                $0.policy.acceptedStatuses = StatusList("404")
            },
            PolicyRow("a limit of redirects in a session without redirects", names: "maximum_redirects", "redirects") {
                $0.redirects = .none
            } request: {
                $0.policy.maximumRedirects = 3
            },
            PolicyRow("a limit of redirects in a task that follows them") {
                $0.redirects = .none
            } request: {
                $0.policy.redirects = .follow
                $0.policy.maximumRedirects = 3
            },
            PolicyRow("a size above the session's maximum", names: "expected_size", "maximum_size") {
                $0.maximumSize = 9
            } request: {
                $0.expectedSize = 10
            },
            PolicyRow("a size above the session's maximum, and a maximum set in the task") {
                $0.maximumSize = 9
            } request: {
                $0.expectedSize = 10
                $0.policy.maximumSize = 10
            },
        ])
    func check(_ row: PolicyRow) {
        do throws(Failure) {
            try RequestCheck.check(row.request, in: row.session)
            #expect(row.names.isEmpty)
        } catch {
            #expect(error.status == .invalidArgument)
            #expect(!row.names.isEmpty && row.names.allSatisfy(error.message.contains), "\(error.message)")
        }
    }
}
