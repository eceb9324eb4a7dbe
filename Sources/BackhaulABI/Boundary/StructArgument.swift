internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that a struct can be read as far as its struct_size says, until the call returns.

/// Structs of the host that begin with `size_t struct_size`: its version of them may be older or newer than ours.
enum StructArgument {
    /// No version of a struct is larger; what says so was not initialized.
    static let largestSize = 65_536

    /// A copy of as much as the host's version has; fields that it does not know yet are as in `empty`, that is zero.
    /// `minimumSize`: size of the struct's first version. `available`: bytes that surely belong to the struct, when
    /// known.
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

    /// Copies of the elements of an array. Their distance is the struct_size of the first one, which all of them have.
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
            copies.append(try read(element, name, into: empty, minimumSize: minimumSize, available: stride))
        }
        return copies
    }

    /// The elements of an array have one size, that of the first: then none reaches behind the array.
    static func checkStride(_ element: UnsafeRawPointer, _ name: String, _ stride: Int) throws(Failure) {
        guard element.loadUnaligned(as: Int.self) == stride else {
            throw Failure(
                .invalidArgument,
                "\(name) has another struct_size than the first of the array; initialize each with BH_INIT")
        }
    }

    /// Fields that later versions of the header will use.
    static func checkReserved(_ fields: UInt64..., in name: String) throws(Failure) {
        guard fields.allSatisfy({ $0 == 0 }) else {
            throw Failure(.invalidArgument, "\(name).reserved is not 0; initialize the struct with BH_INIT")
        }
    }

    /// Structs are aligned for `size_t`, so the size of each version is a multiple of its alignment. Any other cuts a
    /// field in two, and half a pointer points nowhere.
    @inline(never)
    static func check(
        _ size: Int, _ name: String, minimumSize: Int, available: Int = largestSize, ownSize: Int
    ) throws(Failure) {
        let told = UInt(bitPattern: size)
        guard size >= minimumSize, size <= available else {
            throw Failure(
                .invalidArgument,
                "\(name) has struct_size \(told), but \(minimumSize) to \(available) can be; "
                    + "initialize it with BH_INIT")
        }
        guard size % MemoryLayout<Int>.alignment == 0 else {
            throw Failure(
                .invalidArgument,
                "\(name) has struct_size \(told), which ends inside a field; the whole struct has \(ownSize) bytes "
                    + "here: initialize it with BH_INIT")
        }
    }

    /// Fields of a newer header: what they ask for cannot be done, unless it is nothing.
    @inline(never)
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

    /// Where a field ends: the size of the version of a struct whose last field it is. Padding may follow.
    static func end<Struct, Field>(of field: KeyPath<Struct, Field>) -> Int {
        (MemoryLayout<Struct>.offset(of: field) ?? 0) + MemoryLayout<Field>.size
    }
}
