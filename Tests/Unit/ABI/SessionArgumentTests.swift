import BackhaulModel
import CBackhaul
import Glibc
import Testing

@testable import BackhaulABI

@Suite("A session configuration of the host")
struct ConfigurationArgumentTests {
    private func read(
        _ identifier: String?, of session: String? = nil, _ change: (inout bh_session_configuration) -> Void = { _ in }
    ) throws(Failure) -> SessionConfiguration {
        var configuration = bh_session_configuration()
        configuration.struct_size = MemoryLayout<bh_session_configuration>.size
        change(&configuration)
        guard let identifier else { return try ConfigurationArgument.read(&configuration, of: session) }
        var result: Result<SessionConfiguration, Failure> = .failure(Failure(.internal, "not read"))
        identifier.withCString { text in
            configuration.identifier = text
            result = Result { () throws(Failure) in try ConfigurationArgument.read(&configuration, of: session) }
        }
        return try result.get()
    }

    @Test("has the defaults where it says 0 or NULL")
    func defaults() throws {
        #expect(try read("gallery") == SessionConfiguration(identifier: "gallery"))
    }

    @Test("is taken with each of its fields")
    func fields() throws {
        var expected = SessionConfiguration(identifier: "gallery")
        expected.connectionsPerOrigin = 2
        expected.maximumRunningTasks = 3
        expected.maximumAttempts = 4
        expected.firstRetryDelayMilliseconds = 5
        expected.longestRetryDelayMilliseconds = 6
        expected.requestTimeoutMilliseconds = 7
        expected.resourceTimeoutMilliseconds = 8
        expected.caFile = "/etc/ca.pem"
        expected.tolerances = [.missingCloseNotify, .earlyResponse]
        let caFile = strdup("/etc/ca.pem")
        defer { free(caFile) }
        let read = try read("gallery") { given in
            given.connections_per_origin = 2
            given.maximum_running_tasks = 3
            given.maximum_attempts = 4
            given.first_retry_delay_ms = 5
            given.longest_retry_delay_ms = 6
            given.request_timeout_ms = 7
            given.resource_timeout_ms = 8
            given.ca_file = UnsafePointer(caFile)
            given.tolerances = UInt32(BH_TOLERATE_MISSING_CLOSE_NOTIFY | BH_TOLERATE_EARLY_RESPONSE)
        }
        #expect(read == expected)
    }

    @Test("is refused beyond its limits, naming the field")
    func limits() {
        let failure = failure { () throws(Failure) in try read("gallery") { $0.connections_per_origin = 257 } }
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("connections_per_origin") == true)
        #expect(
            self.failureOf { $0.resource_timeout_ms = .max }?.message.contains("resource_timeout_ms") == true)
        #expect(self.failureOf { $0.tolerances = 4 }?.message.contains("tolerances has the unknown bits 0x4") == true)
        #expect(self.failureOf { $0.first_retry_delay_ms = 700_000 }?.status == .invalidArgument)
    }

    private func failureOf(_ change: (inout bh_session_configuration) -> Void) -> Failure? {
        failure { () throws(Failure) in try read("gallery", change) }
    }

    @Test(
        "needs an identifier without control characters",
        arguments: ["a\nb", "\u{7F}", String(repeating: "x", count: 256)])
    func identifiers(identifier: String) {
        #expect(failure { () throws(Failure) in try read(identifier) }?.status == .invalidArgument)
        #expect(failure { () throws(Failure) in try read(nil) }?.message.contains("identifier is NULL") == true)
    }

    @Test("for an update may leave the identifier out and cannot change it")
    func update() throws {
        #expect(try read(nil, of: "gallery").identifier == "gallery")
        #expect(try read("gallery", of: "gallery").identifier == "gallery")
        #expect(failure { () throws(Failure) in try read("other", of: "gallery") }?.status == .invalidArgument)
        // The same letters to the eye, other bytes: another session.
        #expect(failure { () throws(Failure) in try read("e\u{301}", of: "\u{E9}") }?.status == .invalidArgument)
    }
}

@Suite("A task selection of the host")
struct SelectionArgumentTests {
    private func read(
        _ ids: [UInt64] = [], states: UInt32 = 0, count: Int? = nil, isNull: Bool = false
    ) throws(Failure) -> TaskSelection {
        var result: Result<TaskSelection, Failure> = .failure(Failure(.internal, "not read"))
        ids.withUnsafeBufferPointer { buffer in
            var selection = bh_task_selection(
                struct_size: MemoryLayout<bh_task_selection>.size, ids: isNull ? nil : buffer.baseAddress,
                id_count: count ?? ids.count, states: states, group: nil)
            result = Result { () throws(Failure) in try SelectionArgument.read(&selection) }
        }
        return try result.get()
    }

    @Test("means all tasks when it is NULL or says nothing")
    func all() throws {
        #expect(try SelectionArgument.read(nil) == TaskSelection())
        #expect(try read() == TaskSelection())
    }

    @Test("keeps ids and states")
    func some() throws {
        let states = UInt32(1 << BH_TASK_WAITING | 1 << BH_TASK_FAILED)
        let selection = try read([3, 1], states: states)
        #expect(selection.ids == [TaskID(rawValue: 3), TaskID(rawValue: 1)])
        #expect(selection.states == [TaskStates(.waiting), TaskStates(.failed)])
    }

    @Test("with an id that no row can have still names no other row")
    func hugeID() throws {
        #expect(try read([.max]).ids == [TaskID(rawValue: UInt64(Int64.max))])
    }

    @Test("with a state that does not exist is refused", arguments: [1, 1 << 7, 1 << 31] as [UInt32])
    func unknownState(states: UInt32) {
        #expect(failure { () throws(Failure) in try read(states: states) }?.message.contains("states") == true)
    }

    @Test("with a count that cannot be is refused", arguments: [10_000_001, .max, -1])
    func count(count: Int) {
        #expect(failure { () throws(Failure) in try read([1], count: count) }?.status == .invalidArgument)
    }

    @Test("with a count but no ids is refused")
    func noIDs() {
        let failure = failure { () throws(Failure) in try read(count: 1, isNull: true) }
        #expect(failure?.message == "selection.ids is NULL, but selection.id_count is 1")
    }
}
