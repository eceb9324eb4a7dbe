import BackhaulModel
import CBackhaul
import Glibc
import Testing

@testable import BackhaulABI

/// The host passes the configuration of a session as a C struct.
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

    @Test("if a field of a session configuration is 0 or NULL, the field gets its default")
    func defaults() throws {
        #expect(try read("gallery") == SessionConfiguration(identifier: "gallery"))
    }

    @Test("a session configuration with a field beyond its limit is refused, and the message names the field")
    func limits() {
        let failure = failure { () throws(Failure) in try read("gallery") { $0.connections_per_origin = 257 } }
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("connections_per_origin") == true)
        #expect(
            self.failureOf { $0.rules.resource_timeout_ms = .max }?.message.contains("resource_timeout_ms") == true)
        #expect(self.failureOf { $0.tolerances = 4 }?.message.contains("tolerances has the unknown bits 0x4") == true)
        #expect(self.failureOf { $0.retry.first_delay_ms = 700_000 }?.status == .invalidArgument)
    }

    private func failureOf(_ change: (inout bh_session_configuration) -> Void) -> Failure? {
        failure { () throws(Failure) in try read("gallery", change) }
    }

    @Test(
        "a session configuration is refused if its identifier is NULL, too long or has control characters",
        arguments: ["a\nb", "\u{7F}", String(repeating: "x", count: 256)])
    func identifiers(identifier: String) {
        #expect(failure { () throws(Failure) in try read(identifier) }?.status == .invalidArgument)
        #expect(failure { () throws(Failure) in try read(nil) }?.message.contains("identifier is NULL") == true)
    }

    @Test("an update of a session may omit the session's identifier, but cannot change the identifier")
    func update() throws {
        #expect(try read(nil, of: "gallery").identifier == "gallery")
        #expect(try read("gallery", of: "gallery").identifier == "gallery")
        #expect(failure { () throws(Failure) in try read("other", of: "gallery") }?.status == .invalidArgument)
        // The two identifiers look equal, but their bytes differ. Therefore they name two different sessions.
        #expect(failure { () throws(Failure) in try read("e\u{301}", of: "\u{E9}") }?.status == .invalidArgument)
    }
}

/// A *task selection* is a C struct that chooses tasks by their ids and states.
@Suite("A task selection of the host")
struct SelectionArgumentTests {
    private func read(
        _ ids: [UInt64] = [], states: UInt32 = 0, count: Int? = nil, isNull: Bool = false
    ) throws(Failure) -> TaskSelection {
        var result: Result<TaskSelection, Failure> = .failure(Failure(.internal, "not read"))
        ids.withUnsafeBufferPointer { buffer in
            var selection = bh_task_selection(
                struct_size: MemoryLayout<bh_task_selection>.size, ids: isNull ? nil : buffer.baseAddress,
                id_count: count ?? ids.count, group: nil, states: states, reserved: 0)
            result = Result { () throws(Failure) in try SelectionArgument.read(&selection) }
        }
        return try result.get()
    }

    @Test("a task selection that is NULL or empty selects all tasks")
    func all() throws {
        #expect(try SelectionArgument.read(nil) == TaskSelection())
        #expect(try read() == TaskSelection())
    }

    @Test("the library reads the ids and states of a task selection")
    func some() throws {
        let states = UInt32(1 << BH_TASK_WAITING | 1 << BH_TASK_FAILED)
        let selection = try read([3, 1], states: states)
        #expect(selection.ids == [TaskID(rawValue: 3), TaskID(rawValue: 1)])
        #expect(selection.states == [TaskStates(.waiting), TaskStates(.failed)])
    }

    @Test("in a task selection, an id that SQLite cannot store becomes the largest id that SQLite can store")
    func hugeID() throws {
        #expect(try read([.max]).ids == [TaskID(rawValue: UInt64(Int64.max))])
    }

    @Test("a task selection with a state that does not exist is refused", arguments: [1, 1 << 7, 1 << 31] as [UInt32])
    func unknownState(states: UInt32) {
        #expect(failure { () throws(Failure) in try read(states: states) }?.message.contains("states") == true)
    }

    @Test("a task selection with an impossible count is refused", arguments: [100_001, .max, -1])
    func count(count: Int) {
        #expect(failure { () throws(Failure) in try read([1], count: count) }?.status == .invalidArgument)
    }

    @Test("a task selection with a count but no ids is refused")
    func noIDs() {
        let failure = failure { () throws(Failure) in try read(count: 1, isNull: true) }
        #expect(failure?.message == "selection.ids is NULL, but selection.id_count is 1")
    }
}
