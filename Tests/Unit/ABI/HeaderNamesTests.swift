import BackhaulModel
import CBackhaul
import Foundation
import Testing

@testable import BackhaulABI

/// The Swift module BackhaulModel repeats constants of include/backhaul.h.
@Suite("The values of the model match the header")
struct HeaderNamesTests {
    let constants: [String: Int]

    init() throws {
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(String(cString: bh_abi_json()).utf8))
        constants = manifest.constants.compactMapValues { Int($0.description) }
    }

    /// Returns a name in the spelling of the header: "destinationInUse" becomes "DESTINATION_IN_USE".
    private func upperSnake(_ name: String) -> String {
        name.replacing(#/[A-Z]/#) { "_\($0.output)" }.uppercased()
    }

    /// Compares the names and values of all cases with the header's constants whose names begin with the prefix.
    private func expectEqual<Value: CaseIterable & RawRepresentable>(
        _ type: Value.Type, _ prefix: String, except others: (String) -> Bool = { _ in false }
    ) where Value.RawValue == Int32 {
        let cases = Dictionary(
            uniqueKeysWithValues: Value.allCases.map {
                (prefix + upperSnake("\($0)"), Int($0.rawValue))
            })
        #expect(constants.filter { $0.key.hasPrefix(prefix) && !others($0.key) } == cases)
    }

    @Test("the statuses match the header, and each status has a name and a sentence")
    func statuses() {
        for value in Int32(-2)...200 {
            let name = String(cString: bh_status_name(value))
            let text = String(cString: bh_status_text(value))
            #expect(!text.isEmpty)
            guard let status = Status(rawValue: value) else {
                #expect(name == "BH_UNKNOWN")
                continue
            }
            #expect(name == "BH_" + upperSnake("\(status)"))
            #expect(constants[name] == Int(value))
        }
    }

    @Test("the error domains match the header")
    func domains() { expectEqual(FailureDomain.self, "BH_DOMAIN_") }

    @Test("the roles of session handles match the header")
    func roles() { expectEqual(Role.self, "BH_ROLE_", except: { $0 == "BH_ROLE_CONSUME_WHEN_FREE" }) }

    @Test("the states of a launch command match the header")
    func launchStates() { expectEqual(LaunchState.self, "BH_LAUNCH_") }

    @Test("the task states match the header")
    func states() { expectEqual(TaskState.self, "BH_TASK_") { $0 == "BH_TASK_NONE" || $0.hasPrefix("BH_TASK_KIND_") } }

    @Test("the kinds of tasks match the header")
    func kinds() { expectEqual(TaskKind.self, "BH_TASK_KIND_") { $0 == "BH_TASK_KIND_NONE" } }

    @Test("the policies for redirects match the header")
    func redirects() { expectEqual(RedirectPolicy.self, "BH_REDIRECTS_") { $0 == "BH_REDIRECTS_DEFAULT" } }

    @Test("the policies for cookies match the header")
    func cookies() { expectEqual(CookiePolicy.self, "BH_COOKIES_") { $0 == "BH_COOKIES_DEFAULT" } }

    @Test("the sources of a request's body match the header")
    func bodySources() {
        let others = ["BH_BODY_SIZE_MAXIMUM", "BH_BODY_CHANGED", "BH_BODY_UNAVAILABLE"]
        expectEqual(BodySource.self, "BH_BODY_") { others.contains($0) }
    }

    @Test("the parts of a request that can expire match the header")
    func refreshes() { expectEqual(RefreshKind.self, "BH_REFRESH_") }

    @Test("the steps that may follow an attempt match the header")
    func nexts() { expectEqual(AttemptNext.self, "BH_NEXT_") }

    @Test("the errors after which a task is retried match the header")
    func retryErrors() {
        #expect(constants["BH_RETRY_NAME"] == Int(RetryErrors.name.rawValue))
        #expect(constants["BH_RETRY_CONNECTION"] == Int(RetryErrors.connection.rawValue))
        #expect(constants["BH_RETRY_LOST"] == Int(RetryErrors.lost.rawValue))
        #expect(constants["BH_RETRY_TIMEOUT"] == Int(RetryErrors.timeout.rawValue))
        #expect(constants["BH_RETRY_TLS"] == Int(RetryErrors.tls.rawValue))
        #expect(constants["BH_RETRY_STATUS"] == Int(RetryErrors.status.rawValue))
        #expect(constants["BH_RETRY_BAD_RESPONSE"] == Int(RetryErrors.badResponse.rawValue))
        #expect(constants["BH_RETRY_NONE"] == Int(RetryErrors.nothing.rawValue))
    }

    @Test("the faults of servers that can be tolerated match the header")
    func tolerances() {
        let expected = [
            "BH_TOLERATE_MISSING_CLOSE_NOTIFY": Int(Tolerances.missingCloseNotify.rawValue),
            "BH_TOLERATE_EARLY_RESPONSE": Int(Tolerances.earlyResponse.rawValue),
        ]
        #expect(constants.filter { $0.key.hasPrefix("BH_TOLERATE_") } == expected)
    }

    @Test("the versions of HTTP and TLS match the header")
    func versions() {
        #expect(constants["BH_HTTP_DEFAULT"] == Int(HTTPVersion.standard.rawValue))
        #expect(constants["BH_HTTP_1_1"] == Int(HTTPVersion.http1.rawValue))
        #expect(constants["BH_HTTP_2"] == Int(HTTPVersion.http2.rawValue))
        #expect(constants["BH_HTTP_2_PRIOR_KNOWLEDGE"] == Int(HTTPVersion.http2PriorKnowledge.rawValue))
        #expect(constants["BH_TLS_1_2"] == Int(TLSConfiguration.Version.tls12.rawValue))
        #expect(constants["BH_TLS_1_3"] == Int(TLSConfiguration.Version.tls13.rawValue))
    }

    @Test("the reasons why a task waits match the header")
    func reasons() { expectEqual(WaitReason.self, "BH_REASON_") }

    @Test("the policies for existing files match the header")
    func policies() { expectEqual(ExistsPolicy.self, "BH_IF_EXISTS_") }

    @Test("the two results of an enqueue, a new or an existing task, match the header")
    func dispositions() {
        #expect(constants["BH_ENQUEUE_NEW"] == Int(Enqueued.Disposition.new.rawValue))
        #expect(constants["BH_ENQUEUE_EXISTING"] == Int(Enqueued.Disposition.existing.rawValue))
    }

    @Test("the limits of requests match the header")
    func limits() {
        #expect(constants["BH_URL_SIZE_MAXIMUM"] == Limits.urlSize)
        #expect(constants["BH_USER_DATA_SIZE_MAXIMUM"] == Limits.userDataSize)
        #expect(constants["BH_HEADER_COUNT_MAXIMUM"] == Limits.headerCount)
        #expect(constants["BH_HEADERS_SIZE_MAXIMUM"] == Limits.headersSize)
        #expect(constants["BH_ENQUEUE_COUNT_MAXIMUM"] == Limits.enqueueCount)
        #expect(constants["BH_ID_COUNT_MAXIMUM"] == Limits.idCount)
        #expect(constants["BH_BODY_SIZE_MAXIMUM"] == Limits.bodySize)
        #expect(constants["BH_PART_COUNT_MAXIMUM"] == Limits.partCount)
        #expect(constants["BH_GROUP_SIZE_MAXIMUM"] == Limits.groupSize)
        #expect(constants["BH_PRIORITY_NOW"] == Int(Limits.priorityNow))
    }
}
