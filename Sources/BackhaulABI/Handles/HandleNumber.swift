internal import CBackhaul

// Unsafe: the value of each opaque pointer is computed from a number, and no pointer is dereferenced.

/// The number of a handle. A *handle* is the pointer that the host gets for an object, such as a session. This type
/// converts between the number and the pointer.
struct HandleNumber: Hashable, Sendable {
    static let first: UInt64 = 1
    private static let last: UInt64 = (1 << 40) - 1

    // The pointers fit into the 47 bits of a user-space address, because runtimes of other languages store tags in the
    // bits above. The pointers are aligned like those of malloc, because some runtimes check the alignment. No memory
    // is mapped at these addresses, so a host that dereferences a handle crashes immediately.
    private static let base: UInt = 0x4000_0000_0000
    private static let alignment: UInt = 16

    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Nil for a pointer that cannot be a handle.
    init?(_ pointer: OpaquePointer) {
        let value = UInt(bitPattern: pointer)
        guard value >= HandleNumber.base else { return nil }
        let (number, rest) = (value - HandleNumber.base).quotientAndRemainder(dividingBy: HandleNumber.alignment)
        guard rest == 0, number >= HandleNumber.first, number <= HandleNumber.last else { return nil }
        rawValue = UInt64(number)
    }

    /// The pointer for the host. Nil if all numbers are used up.
    var pointer: OpaquePointer? {
        guard rawValue <= HandleNumber.last else { return nil }
        return OpaquePointer(bitPattern: HandleNumber.base + UInt(rawValue) * HandleNumber.alignment)
    }
}
