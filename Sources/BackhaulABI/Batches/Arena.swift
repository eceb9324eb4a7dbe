internal import CBackhaul

// Unsafe: the host gets only initialized memory. The arena belongs to a *batch*, which is a list for the host. The
// memory is freed when the batch frees its arena.

/// The memory of a batch. Items stay at their addresses until the whole arena is freed.
struct Arena: ~Copyable {
    private static let blockSize = 64 << 10

    private var blocks: [UnsafeMutableRawPointer] = []
    private var free: UnsafeMutableRawPointer?
    private var freeSize = 0

    deinit { for block in blocks { block.deallocate() } }

    /// Places a NUL-terminated copy of the text.
    mutating func place(_ text: String) -> UnsafePointer<CChar> {
        var text = text
        return text.withUTF8 { bytes in
            let copy = reserve(bytes.count + 1, alignment: 1)
            UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyBytes(from: bytes)
            copy.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
            return UnsafePointer(copy.assumingMemoryBound(to: CChar.self))
        }
    }

    mutating func place(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        return place(text)
    }

    /// Places a copy of the bytes, aligned for every C type, because the host may read a struct from the copy.
    mutating func place(_ bytes: [UInt8]?) -> UnsafeRawPointer? {
        guard let bytes else { return nil }
        let copy = reserve(bytes.count, alignment: 16)
        UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyBytes(from: bytes)
        return UnsafeRawPointer(copy)
    }

    mutating func place<Item: BitwiseCopyable>(_ item: Item) -> UnsafePointer<Item> {
        let copy = buffer(for: 1, of: Item.self)
        copy.initialize(to: item)
        return UnsafePointer(copy)
    }

    /// Reserves uninitialized memory for an array.
    mutating func buffer<Element: BitwiseCopyable>(
        for count: Int, of type: Element.Type
    ) -> UnsafeMutablePointer<Element> {
        reserve(count * MemoryLayout<Element>.stride, alignment: MemoryLayout<Element>.alignment)
            .bindMemory(to: type, capacity: count)
    }

    private mutating func reserve(_ size: Int, alignment: Int) -> UnsafeMutableRawPointer {
        if let start = free?.alignedUp(toMultipleOf: alignment), let used = free?.distance(to: start),
            used + size <= freeSize
        {
            free = start + size
            freeSize -= used + size
            return start
        }
        let block = UnsafeMutableRawPointer.allocate(byteCount: max(size, Arena.blockSize), alignment: 16)
        blocks.append(block)
        // A large item gets its own block. The current block stays in use.
        if size < Arena.blockSize {
            free = block + size
            freeSize = Arena.blockSize - size
        }
        return block
    }
}
