internal import CBackhaul

// Unsafe: an opaque pointer is made of a number, and is never dereferenced.

/// The number of a handle, and the pointer that the host gets for it.
struct HandleNumber: Hashable, Sendable {
    static let first: UInt64 = 1
    private static let last: UInt64 = (1 << 40) - 1

    // Pointers are within the 47 bits of a user-space address, because other languages' runtimes store tags above them.
    // They are aligned like those of malloc, because some runtimes check that. Nothing is mapped there, so that an
    // access faults.
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
