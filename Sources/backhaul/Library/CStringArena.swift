import CBackhaul
import Glibc

/// Copies of strings and bytes to which C structs point. The copies are valid as long as this object exists.
final class CStringArena {
    // Unsafe: C structs point to this memory, which is freed when the arena is deinitialized.
    private var allocations: [UnsafeMutableRawPointer] = []

    func string(_ text: String) -> UnsafePointer<CChar> {
        var bytes = Array(text.utf8)
        bytes.append(0)
        let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        allocations.append(copy)
        return UnsafePointer(copy.assumingMemoryBound(to: CChar.self))
    }

    func optionalString(_ text: String?) -> UnsafePointer<CChar>? { text.map { string($0) } }

    func array<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element>? {
        if elements.isEmpty { return nil }
        let copy = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
        copy.initialize(from: elements, count: elements.count)
        allocations.append(UnsafeMutableRawPointer(copy))
        return UnsafePointer(copy)
    }

    /// A copy of the text. Nil if the text is empty: a NULL pointer means the default.
    func string(unlessEmpty text: String) -> UnsafePointer<CChar>? { text.isEmpty ? nil : string(text) }

    /// A copy of the bytes. The pointer is not NULL even if there are no bytes, because a NULL pointer means "no body".
    func bytes(_ bytes: [UInt8]) -> UnsafeRawPointer? { UnsafeRawPointer(array(bytes + [0])) }

    func headers(_ headers: [(name: String, value: String)]) -> UnsafePointer<bh_header>? {
        array(headers.map { bh_header(name: string($0.name), value: string($0.value)) })
    }

    deinit {
        for allocation in allocations { allocation.deallocate() }
    }
}
