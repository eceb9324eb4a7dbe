internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that a struct can be read as far as its struct_size says, until the call returns.

/// Structs of the host that begin with `size_t struct_size`: its version of them may be older or newer than ours.
enum StructArgument {
    /// No version of a struct is larger; what says so was not initialized.
    static let largestSize = 65_536

    /// A copy of as much as the host's version has; fields that it does not know yet are as in `empty`, that is zero.
    /// `firstSize`: size of the struct's first version. `room`: bytes that surely belong to the struct, when known.
    static func read<Struct: BitwiseCopyable>(
        _ pointer: UnsafeRawPointer, _ name: String, into empty: Struct, firstSize: Int, room: Int = largestSize
    ) throws(Failure) -> Struct {
        let size = pointer.loadUnaligned(as: Int.self)
        try check(size, name, firstSize, room, ownSize: MemoryLayout<Struct>.size)
        var copy = empty
        withUnsafeMutableBytes(of: &copy) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, bytes.count)))
        }
        return copy
    }

    /// Structs are aligned for `size_t`, so the size of each version is a multiple of its alignment. Any other cuts a
    /// field in two, and half a pointer points nowhere.
    @inline(never)
    private static func check(
        _ size: Int, _ name: String, _ firstSize: Int, _ room: Int, ownSize: Int
    ) throws(Failure) {
        let told = UInt(bitPattern: size)
        guard size >= firstSize, size <= room else {
            throw Failure(
                .invalidArgument,
                "\(name) has struct_size \(told), but \(firstSize) to \(room) can be; start with its initializer")
        }
        guard size % MemoryLayout<Int>.alignment == 0 else {
            throw Failure(
                .invalidArgument,
                "\(name) has struct_size \(told), which ends inside a field; the whole struct has \(ownSize) bytes "
                    + "here: start with its initializer")
        }
    }

    /// Where a field ends: the size of the version of a struct whose last field it is. Padding may follow.
    static func end<Struct, Field>(of field: KeyPath<Struct, Field>) -> Int {
        (MemoryLayout<Struct>.offset(of: field) ?? 0) + MemoryLayout<Field>.size
    }
}
