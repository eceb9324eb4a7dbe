import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

/// The library writes the reason of a failed call into this struct.
@Suite("A failure in the host's bh_error")
struct ErrorReportTests {
    private let failure = Failure(.inUse, "process 7 consumes the session", domain: .process, detail: 7, index: 3)

    /// Reports the failure in a host's struct, which is followed by further memory. Before the report, all bytes of the
    /// struct and of this memory are 0x55, except the struct's size. `behind` is true if the report has not changed the
    /// memory behind the struct.
    private func report(_ failure: Failure, structSize: Int) -> (status: bh_status, error: bh_error, behind: Bool) {
        let room = MemoryLayout<bh_error>.size + 64
        let memory = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 16)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0x55, count: room)
        memory.storeBytes(of: structSize, as: Int.self)
        let pointer = memory.bindMemory(to: bh_error.self, capacity: 1)
        let status = ErrorReport.report(failure, to: pointer)
        let behind = UnsafeRawBufferPointer(start: memory, count: room).dropFirst(MemoryLayout<bh_error>.size)
        return (status, pointer.pointee, behind.allSatisfy { $0 == 0x55 })
    }

    private func message(_ error: bh_error) -> String {
        withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    @Test("a failure fills every field of bh_error except the size")
    func fields() {
        let (status, error, _) = report(failure, structSize: MemoryLayout<bh_error>.size)
        #expect(status == BH_IN_USE)
        #expect(error.struct_size == MemoryLayout<bh_error>.size)
        #expect(error.status == BH_IN_USE)
        #expect(error.domain == BH_DOMAIN_PROCESS)
        #expect(error.detail == 7)
        #expect(error.index == 3)
        #expect(error.ticket == nil)
        #expect(message(error) == "process 7 consumes the session")
    }

    @Test("if the failure belongs to no item of the host's array, bh_error has BH_NO_INDEX")
    func noIndex() {
        let (_, error, _) = report(Failure(.timeout, "late"), structSize: MemoryLayout<bh_error>.size)
        #expect(error.index == .max)
    }

    @Test("if the host's bh_error is larger than the library's, only the fields that the library knows are filled")
    func newerHost() {
        let (_, error, isUntouchedBehind) = report(failure, structSize: MemoryLayout<bh_error>.size + 64)
        #expect(error.status == BH_IN_USE)
        #expect(isUntouchedBehind)
    }

    @Test(
        "a bh_error with an impossible size stays unchanged",
        arguments: [0, 1, 8, 551, 1 << 20, -1, .min, .max])
    func unusable(structSize: Int) {
        let (status, error, _) = report(failure, structSize: structSize)
        #expect(status == BH_IN_USE)
        #expect(error.status == 0x5555_5555)
        #expect(error.detail == 0x5555_5555_5555_5555)
    }

    @Test("if the host gives no bh_error, the call still returns the status")
    func none() {
        #expect(ErrorReport.report(failure, to: nil) == BH_IN_USE)
    }

    @Test("a message that is too long for bh_error is shortened, and ends with the reason", arguments: [0, 1, 2, 3])
    func longMessage(shift: Int) {
        let long = String(repeating: "x", count: shift) + String(repeating: "\u{1F680}", count: 200)
        let (_, error, isUntouchedBehind) = report(
            Failure(.internal, "the file /\(long) is not there"), structSize: MemoryLayout<bh_error>.size)
        let text = message(error)
        #expect(text.hasPrefix("the file /") && text.hasSuffix(" is not there"))
        #expect((490...511).contains(text.utf8.count))
        #expect(!text.contains("\u{FFFD}"))
        #expect(isUntouchedBehind)
    }

    @Test("a message that exactly fits into bh_error is complete")
    func fittingMessage() {
        let text = String(repeating: "y", count: 511)
        #expect(message(report(Failure(.internal, text), structSize: MemoryLayout<bh_error>.size).error) == text)
    }
}
