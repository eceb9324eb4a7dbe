internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the struct_size bytes of a struct can be read until the call returns.

/// Reads structs that begin with `size_t struct_size`. The host's version of a struct may be older or newer than this
/// library's.
enum StructArgument {
    /// The largest valid struct_size. No version of a struct is larger. A larger value means that the host did not
    /// initialize its struct.
    static let largestSize = 65_536

    /// A copy of the host's struct. Fields that the host's version lacks have the values of `empty`, which are zero.
    /// `minimumSize`: the struct's size in the first version of the header that has the struct. `available`: the
    /// largest valid struct_size. For an element of an array, this is the distance to the next element.
    static func read<Struct: BitwiseCopyable>(
        _ pointer: UnsafeRawPointer, _ name: String, into empty: Struct, minimumSize: Int, available: Int = largestSize
    ) throws(Failure) -> Struct {
        let size = pointer.loadUnaligned(as: Int.self)
        try check(size, name, minimumSize: minimumSize, available: available, ownSize: MemoryLayout<Struct>.size)
        try checkUnknown(pointer, name, from: MemoryLayout<Struct>.size, to: size)
        var copy = empty
        withUnsafeMutableBytes(of: &copy) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(size, bytes.count)))
        }
        return copy
    }

    /// Copies of the elements of an array. All elements must have the same struct_size, which is also the distance from
    /// one element to the next.
    static func array<Struct: BitwiseCopyable>(
        _ pointer: UnsafePointer<Struct>?, _ name: String, count: Int, _ countName: String, limit: Int,
        empty: Struct, minimumSize: Int
    ) throws(Failure) -> [Struct] {
        let count = try NumberArgument.count(count, countName, in: 0...limit)
        guard count > 0 else { return [] }
        guard let pointer else { throw Failure(.invalidArgument, "\(name) is NULL, but \(countName) is \(count)") }
        let first = UnsafeRawPointer(pointer)
        let stride = first.loadUnaligned(as: Int.self)
        var copies: [Struct] = []
        copies.reserveCapacity(count)
        for index in 0..<count {
            let (element, name) = (index == 0 ? first : first + index * stride, "\(name)[\(index)]")
            try checkStride(element, name, stride)
            copies.append(try read(element, name, into: empty, minimumSize: minimumSize))
        }
        return copies
    }

    /// Checks that an element has the same struct_size as the first one. An element with a larger struct_size could
    /// extend beyond the array.
    static func checkStride(_ element: UnsafeRawPointer, _ name: String, _ stride: Int) throws(Failure) {
        guard element.loadUnaligned(as: Int.self) == stride else {
            throw Failure(
                .invalidArgument,
                "\(name) has another struct_size than the first of the array; initialize each with BH_INIT")
        }
    }

    /// Checks that the reserved fields are 0. Later versions of the header may use them.
    static func checkReserved(_ fields: UInt64..., in name: String) throws(Failure) {
        guard fields.allSatisfy({ $0 == 0 }) else {
            throw Failure(.invalidArgument, "\(name).reserved is not 0; initialize the struct with BH_INIT")
        }
    }

    /// Checks a struct_size. Structs are aligned for `size_t`, so the size of each version is a multiple of this
    /// alignment. A struct of any other size would end inside a field, such as a pointer.
    static func check(
        _ size: Int, _ name: String, minimumSize: Int, available: Int = largestSize, ownSize: Int
    ) throws(Failure) {
        let givenSize = UInt(bitPattern: size)
        guard size >= minimumSize, size <= available else {
            throw Failure(
                .invalidArgument,
                "\(name) has struct_size \(givenSize), but \(minimumSize) to \(available) are valid; "
                    + "initialize it with BH_INIT")
        }
        guard size % MemoryLayout<Int>.alignment == 0 else {
            throw Failure(
                .invalidArgument,
                "\(name) has struct_size \(givenSize), which ends inside a field; the whole struct has \(ownSize) "
                    + "bytes here: initialize it with BH_INIT")
        }
    }

    /// Checks that the fields of a newer header are 0. This library does not know these fields, so it cannot do what
    /// they request.
    private static func checkUnknown(
        _ pointer: UnsafeRawPointer, _ name: String, from ownSize: Int, to size: Int
    ) throws(Failure) {
        guard size > ownSize else { return }
        let unknown = UnsafeRawBufferPointer(start: pointer + ownSize, count: size - ownSize)
        guard unknown.allSatisfy({ $0 == 0 }) else {
            throw Failure(
                .invalidArgument,
                "\(name) has a field that this library does not have; install one of the header's version or newer")
        }
    }

    /// The offset of the first byte after a field. If a version of the struct ends with this field, the offset is the
    /// size of that version, without padding.
    static func end<Struct, Field>(of field: KeyPath<Struct, Field>) -> Int {
        (MemoryLayout<Struct>.offset(of: field) ?? 0) + MemoryLayout<Field>.size
    }
}
