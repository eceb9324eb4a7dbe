import BackhaulModel
import Testing

@testable import BackhaulWire

@Suite struct FilledFieldTests {
    /// Makes 100 records. Returns the names of the properties that have the value of the blank record in all 100
    /// records.
    private func unfilled<Record: WireRecord>(_ make: (inout Generator) -> Record) -> [String] {
        unfilled(Record.blank, make)
    }

    private func unfilled<Value>(_ blank: Value, _ make: (inout Generator) -> Value) -> [String] {
        var generator = Generator(seed: 1)
        let empty = Mirror(reflecting: blank).children.map { text(of: $0.value) }
        var names = Mirror(reflecting: blank).children.map { $0.label ?? "" }
        for _ in 0..<100 {
            let filled = Mirror(reflecting: make(&generator)).children
            let same = zip(filled, empty).filter { text(of: $0.value) == $1 }.map { $0.0.label ?? "" }
            names.removeAll { !same.contains($0) }
        }
        return names
    }

    /// The text of a value. All boxes have the same text, so for a box it is the text of its content.
    private func text(of value: Any) -> String {
        (value as? Boxed<RequestOptions>).map { "\($0.value)" } ?? "\(value)"
    }

    @Test("the generator fills every field of records that hosts send")
    func handedOver() {
        // The engine, not the host, sets `isCrossOrigin`, `storedName` and `fileSystem`.
        #expect(unfilled { $0.request() } == ["isCrossOrigin"])
        #expect(unfilled { $0.bodyFile() } == ["storedName", "fileSystem"])
        #expect(unfilled { $0.options() } == [])
        #expect(unfilled(TaskPolicy()) { $0.policy() } == [])
        #expect(unfilled { $0.constraints() } == [])
        #expect(unfilled { $0.configuration() } == [])
        #expect(unfilled(TaskPolicy.standard) { $0.configuration().policy } == [])
        #expect(unfilled(TLSConfiguration()) { $0.configuration().tls } == [])
        #expect(unfilled { $0.budget() } == [])
        #expect(unfilled { $0.destination() } == ["fileSystem"])
        #expect(unfilled { $0.part() } == [])
        #expect(unfilled { $0.header() } == [])
        #expect(unfilled { $0.selection() } == [])
        #expect(unfilled { $0.launchCommand() } == [])
        #expect(unfilled { $0.limits() } == [])
        #expect(unfilled { $0.networkSettings() } == [])
        #expect(unfilled { $0.activity() } == [])
    }

    @Test("the generator fills every field of records that hosts receive")
    func told() {
        #expect(unfilled { $0.event() } == [])
        #expect(unfilled { $0.endedTask() } == [])
        #expect(unfilled { $0.endedTask().outcome } == [])
        // Only the store needs this field.
        #expect(unfilled { $0.endedTask().outcome.response } == ["isBodyIncomplete"])
        #expect(unfilled { $0.failure() } == [])
        #expect(unfilled { $0.session() } == [])
        #expect(unfilled { $0.task() } == [])
        #expect(unfilled { $0.progress() } == [])
        #expect(unfilled { $0.launch() } == [])
        #expect(unfilled { $0.engine() } == [])
        #expect(unfilled { $0.challenge() } == [])
        #expect(unfilled { $0.attempt() } == [])
        #expect(unfilled { $0.attempt().metrics } == [])
        #expect(unfilled { $0.wait() } == [])
        #expect(unfilled { $0.condition() } == [])
        #expect(unfilled { $0.hold() } == [])
        #expect(unfilled { $0.network() } == [])
        #expect(unfilled { $0.activityInfo() } == [])
    }
}
