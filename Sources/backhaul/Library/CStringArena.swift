import Glibc

/// C copies of strings and bytes that live as long as this object, for structs that point to them.
final class CStringArena {
    // Unsafe: C structs point to this memory, which is freed with the arena and not before.
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

    deinit {
        for allocation in allocations { allocation.deallocate() }
    }
}
