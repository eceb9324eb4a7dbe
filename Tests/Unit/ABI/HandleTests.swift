import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

@Suite("A handle")
struct HandleTests {
    @Test(
        "a handle is a pointer that is aligned, is in user space, and contains the handle's number",
        arguments: [1, 2, 1 << 20, (1 << 40) - 1])
    func pointer(number: UInt64) throws {
        let pointer = try #require(HandleNumber(rawValue: number).pointer)
        #expect(UInt(bitPattern: pointer) % 16 == 0)
        #expect(UInt(bitPattern: pointer) < 1 << 47)
        #expect(HandleNumber(pointer)?.rawValue == number)
    }

    @Test("there is no handle for a number above the largest usable number", arguments: [1 << 40, UInt64.max])
    func end(number: UInt64) { #expect(HandleNumber(rawValue: number).pointer == nil) }

    @Test(
        "a pointer that cannot be a handle is refused",
        arguments: [1, 16, 1 << 46, (1 << 46) + 8, (1 << 46) + 17, 1 << 47, 1 << 63, .max] as [UInt])
    func none(value: UInt) throws { #expect(HandleNumber(try #require(OpaquePointer(bitPattern: value))) == nil) }

    @Test("a handle stands for its object until the object is removed, and no later object gets the same handle")
    func life() throws {
        let batch = try Batch(.sessions([], more: false))
        let pointer = try batch.handle()
        #expect(Batch.of(pointer) === batch)
        let kind: (HandleTarget) -> Batch? = { if case .batch(let batch) = $0 { batch } else { nil } }
        #expect(HandleTable.current.remove(pointer, kind) === batch)
        #expect(Batch.of(pointer) == nil)
        #expect(HandleTable.current.remove(pointer, kind) == nil)
        for _ in 0..<1_000 {
            let next = try Batch(.sessions([], more: false)).handle()
            #expect(next != pointer)
            _ = HandleTable.current.remove(next, kind)
        }
        #expect(Batch.of(pointer) == nil)
    }

    @Test("a function refuses a handle of the wrong kind, names the kind in the message, and leaves the handle valid")
    func otherKind() throws {
        let pointer = try Batch(.sessions([], more: false)).handle()
        defer { bh_batch_release(pointer) }
        let failure = failure { () throws(Failure) in try SessionHandle(pointer) }
        #expect(failure?.status == .invalidHandle)
        #expect(failure?.message == "session is the handle of a batch")
        bh_session_close(pointer)
        bh_application_close(pointer)
        bh_ticket_release(pointer)
        #expect(Batch.of(pointer) != nil)
    }
}
