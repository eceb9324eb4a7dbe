import BackhaulModel
import Testing

private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

@Suite("The checks of names and configurations")
struct SessionCheckTests {
    @Test(
        "An application's name starts with a letter or digit, and has only letters, digits, '.', '-' and '_'",
        arguments: [
            ("org.example.Photos", true), ("a", true), ("0", true), ("a-b_c.d", true), (text(255), true),
            (text(256), false), ("", false), (".a", false), ("-a", false), ("_a", false), ("a b", false),
            ("a/b", false),
            ("ä", false), ("a\u{0}", false), ("a\n", false), ("a..", true),
        ])
    func application(_ identifier: String, _ isGood: Bool) {
        #expect(passes { () throws(Failure) in try SessionCheck.checkApplication(identifier) } == isGood)
    }

    @Test(
        "A session's identifier is 1 to 255 bytes without control characters",
        arguments: [
            ("gallery", true), ("Fotos für Jörg 📷", true), (" ", true), (text(255), true), ("", false),
            (text(256), false),
            (String(repeating: "é", count: 128), false), ("a\u{0}b", false), ("a\nb", false), ("a\u{7F}", false),
            ("a\u{85}", false), ("a\u{9B}0m", false),
        ])
    func session(_ identifier: String, _ isGood: Bool) {
        #expect(passes { () throws(Failure) in try SessionCheck.checkSession(identifier) } == isGood)
    }

    /// A case of a test: a change of a valid configuration. `field` is the field that the error message must name, or
    /// nil if the changed configuration is valid.
    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var field: String?
        var change: @Sendable (inout SessionConfiguration) -> Void
        init(
            _ description: String, names field: String?,
            _ change: @escaping @Sendable (inout SessionConfiguration) -> Void
        ) {
            (testDescription, self.field, self.change) = (description, field, change)
        }
    }

    @Test(
        "A configuration outside its documented limits is refused",
        arguments: [
            Row("the defaults", names: nil) { _ in },
            Row("no identifier", names: "identifier") { $0.identifier = "" },
            Row("no connection", names: "connections_per_origin") { $0.connectionsPerOrigin = 0 },
            Row("256 connections", names: nil) { $0.connectionsPerOrigin = 256 },
            Row("257 connections", names: "connections_per_origin") { $0.connectionsPerOrigin = 257 },
            Row("no running task", names: "maximum_running_tasks") { $0.maximumRunningTasks = 0 },
            Row("1,024 running tasks", names: nil) { $0.maximumRunningTasks = 1_024 },
            Row("1,025 running tasks", names: "maximum_running_tasks") { $0.maximumRunningTasks = 1_025 },
            Row("one attempt", names: nil) { $0.maximumAttempts = 1 },
            Row("no attempt", names: "maximum_attempts") { $0.maximumAttempts = 0 },
            Row("no first delay", names: "retry.first_delay_ms") { $0.firstRetryDelayMilliseconds = 0 },
            Row("a first delay above a day", names: "retry.first_delay_ms") { $0.firstRetryDelayMilliseconds = .max },
            Row("delays of a day", names: nil) {
                $0.firstRetryDelayMilliseconds = 86_400_000
                $0.longestRetryDelayMilliseconds = 86_400_000
            },
            Row("a longest delay above a day", names: "retry.longest_delay_ms") {
                $0.longestRetryDelayMilliseconds = 86_400_001
            },
            Row("a first delay above the longest delay", names: "retry.first_delay_ms") {
                $0.firstRetryDelayMilliseconds = 2_000
                $0.longestRetryDelayMilliseconds = 1_999
            },
            Row("no request time-out", names: "request_timeout_ms") { $0.requestTimeoutMilliseconds = 0 },
            Row("a request time-out above the limit", names: "request_timeout_ms") {
                $0.requestTimeoutMilliseconds = .max
            },
            Row("no resource time-out", names: "resource_timeout_ms") { $0.resourceTimeoutMilliseconds = 0 },
            Row("a resource time-out of ten years", names: nil) { $0.resourceTimeoutMilliseconds = 315_360_000_000 },
            Row("a resource time-out above ten years", names: "resource_timeout_ms") {
                $0.resourceTimeoutMilliseconds = .max
            },
            Row("all tolerances", names: nil) { $0.tolerances = [.missingCloseNotify, .earlyResponse] },
            Row("an unknown tolerance", names: "tolerances has the unknown bits 0x4") {
                $0.tolerances = Tolerances(rawValue: 7)
            },
            Row("a proxy", names: nil) { $0.proxy.url = "http://proxy.example:3128" },
            Row("a proxy whose scheme is in upper case", names: nil) { $0.proxy.url = "HTTP://proxy.example:3128" },
            Row("a proxy of another protocol", names: "proxy.url") { $0.proxy.url = "ftp://proxy.example" },
            Row("a CA file", names: nil) { $0.caFile = "/etc/ca.pem" },
            Row("a relative CA file", names: "ca_file") { $0.caFile = "ca.pem" },
            Row("an empty CA file", names: "ca_file") { $0.caFile = "" },
            Row("a NUL in the CA file", names: "ca_file") { $0.caFile = "/etc\u{0}" },
            Row("a path of 4,096 bytes to a CA file", names: "ca_file") { $0.caFile = "/" + text(4_095) },
        ])
    func configuration(_ row: Row) throws {
        var configuration = SessionConfiguration(identifier: "gallery")
        row.change(&configuration)
        guard let field = row.field else {
            try SessionCheck.check(configuration)
            return
        }
        let error = #expect(throws: Failure.self) { try SessionCheck.check(configuration) }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.contains(field) == true, "\(error?.message ?? "")")
    }

    /// Returns whether the check passes. A failure must be an invalid argument whose message has the word "identifier".
    private func passes(_ check: () throws(Failure) -> Void) -> Bool {
        do {
            try check()
            return true
        } catch {
            #expect(error.status == .invalidArgument)
            #expect(error.message.contains("identifier"))
            return false
        }
    }
}
