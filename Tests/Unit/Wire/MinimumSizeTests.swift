import BackhaulModel
import Testing

@testable import BackhaulWire

@Suite struct MinimumSizeTests {
    private func size(_ value: some WireValue) -> Int {
        var coder = Coder()
        value.write(to: &coder)
        return coder.bytes.count
    }

    private func check<Record: WireRecord & WireElement>(_ type: Record.Type) {
        #expect(size(type.blank) == type.minimumSize, "\(type)")
    }

    @Test("the minimum size of a message element is the size of the element's blank value")
    func smallestElements() {
        check(ActivityInfo.self)
        check(Attempt.self)
        check(Challenge.self)
        check(ClientID.self)
        check(ConditionInfo.self)
        check(Dependency.self)
        check(Enqueued.self)
        check(Event.self)
        check(FormPart.self)
        check(HeaderField.self)
        check(HoldInfo.self)
        check(LaunchInfo.self)
        check(ApplicationInfo.self)
        check(NetworkInfo.self)
        check(Progress.self)
        check(Request.self)
        check(SessionInfo.self)
        check(TaskInfo.self)
        check(WaitRecord.self)
        #expect(size("") == String.minimumSize)
        #expect(size(0 as UInt8) == UInt8.minimumSize)
        #expect(size(TaskID.zero) == TaskID.minimumSize)
        #expect(size(EventID.zero) == EventID.minimumSize)
    }
}
