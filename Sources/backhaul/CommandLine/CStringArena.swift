/// Copies of strings for C. The copies are valid as long as this object exists.
final class CStringArena {
    // Unsafe: C arrays point to this memory, which is freed when the arena is deinitialized.
    private var allocations: [UnsafeMutablePointer<CChar>] = []

    // Unsafe: the copy is valid as long as the arena.
    func string(_ text: String) -> UnsafePointer<CChar> {
        let bytes = text.utf8CString
        // Unsafe: the arena frees the copy.
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: Array(bytes), count: bytes.count)
        allocations.append(copy)
        return UnsafePointer(copy)  // Unsafe: see above.
    }

    deinit {
        for allocation in allocations { allocation.deallocate() }
    }
}
