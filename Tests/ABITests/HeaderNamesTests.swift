import BackhaulModel
import CBackhaul
import Foundation
import Testing

@testable import BackhaulABI

@Suite("The values of the model are those of the header")
struct HeaderNamesTests {
    let constants: [String: Int]

    init() throws {
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(String(cString: bh_abi_json()).utf8))
        constants = manifest.constants.compactMapValues { Int($0.description) }
    }

    /// "destinationInUse" -> "DESTINATION_IN_USE"
    private func upperSnake(_ name: String) -> String {
        name.replacing(#/[A-Z]/#) { "_\($0.output)" }.uppercased()
    }

    /// All cases under their names, against the header's constants with the prefix.
    private func expectEqual<Value: CaseIterable & RawRepresentable>(
        _ type: Value.Type, _ prefix: String, except others: (String) -> Bool = { _ in false }
    ) where Value.RawValue == Int32 {
        let cases = Dictionary(uniqueKeysWithValues: Value.allCases.map {
            (prefix + upperSnake("\($0)"), Int($0.rawValue))
        })
        #expect(constants.filter { $0.key.hasPrefix(prefix) && !others($0.key) } == cases)
    }

    @Test("statuses, with their names and a sentence each")
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

    @Test("error domains")
    func domains() { expectEqual(FailureDomain.self, "BH_DOMAIN_") }

    @Test("roles")
    func roles() { expectEqual(Role.self, "BH_ROLE_", except: { $0 == "BH_ROLE_CONSUME_WHEN_FREE" }) }

    @Test("launch states")
    func launchStates() { expectEqual(LaunchState.self, "BH_LAUNCH_") }

    @Test("task states")
    func states() { expectEqual(TaskState.self, "BH_TASK_") }

    @Test("reasons for waiting")
    func reasons() { expectEqual(WaitReason.self, "BH_REASON_") }

    @Test("policies for existing files")
    func policies() { expectEqual(ExistsPolicy.self, "BH_IF_EXISTS_") }

    @Test("what an enqueue did")
    func dispositions() {
        expectEqual(Enqueued.Disposition.self, "BH_ENQUEUE_") { $0 == "BH_ENQUEUE_COUNT_MAXIMUM" }
    }

    @Test("limits")
    func limits() {
        #expect(constants["BH_URL_SIZE_MAXIMUM"] == Limits.urlSize)
        #expect(constants["BH_USER_DATA_SIZE_MAXIMUM"] == Limits.userDataSize)
        #expect(constants["BH_HEADER_COUNT_MAXIMUM"] == Limits.headerCount)
        #expect(constants["BH_HEADERS_SIZE_MAXIMUM"] == Limits.headersSize)
        #expect(constants["BH_ENQUEUE_COUNT_MAXIMUM"] == Limits.enqueueCount)
    }
}
