internal import CBackhaul

/// Copies of strings, bytes and structs for C. The copies are valid as long as this object exists.
final class Arena {
    // Unsafe: C structs point to this memory, which is freed when the arena is deinitialized.
    private var allocations: [UnsafeMutableRawPointer] = []

    /// Copies a text. Throws if the text contains a NUL character, because C would end the text there.
    func string(_ text: String, _ name: String) throws(BackhaulError) -> UnsafePointer<CChar> {
        var bytes = Array(text.utf8)
        if bytes.contains(0) {
            throw BackhaulError(BH_INVALID_ARGUMENT, message: "\(name) contains a NUL character; remove it")
        }
        bytes.append(0)
        return UnsafePointer(raw(bytes).assumingMemoryBound(to: CChar.self))
    }

    func optionalString(_ text: String?, _ name: String) throws(BackhaulError) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        return try string(text, name)
    }

    func bytes(_ bytes: [UInt8]?) -> UnsafeRawPointer? { bytes.map { UnsafeRawPointer(raw($0)) } }

    func strings(_ texts: [String], _ name: String) throws(BackhaulError) -> UnsafePointer<UnsafePointer<CChar>?>? {
        var pointers: [UnsafePointer<CChar>?] = []
        for text in texts { pointers.append(try string(text, name)) }
        return array(pointers)
    }

    func headers(_ headers: [Header]) throws(BackhaulError) -> UnsafePointer<bh_header>? {
        var values: [bh_header] = []
        for header in headers {
            values.append(
                bh_header(
                    name: try string(header.name, "a header's name"),
                    value: try string(header.value, "a header's value")))
        }
        return array(values)
    }

    func array<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element>? {
        if elements.isEmpty { return nil }
        let copy = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
        copy.initialize(from: elements, count: elements.count)
        allocations.append(UnsafeMutableRawPointer(copy))
        return UnsafePointer(copy)
    }

    private func raw(_ bytes: [UInt8]) -> UnsafeMutableRawPointer {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        allocations.append(copy)
        return copy
    }

    deinit {
        for allocation in allocations { allocation.deallocate() }
    }
}

func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

/// A sentence of the library for users, with the names of this package.
func sentence(_ pointer: UnsafePointer<CChar>?) -> String? { text(pointer).map { withSwiftNames($0) } }

func texts(_ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) -> [String] {
    UnsafeBufferPointer(start: pointer, count: pointer == nil ? 0 : count).map { text($0) ?? "" }
}

func headers(_ start: UnsafePointer<bh_header>?, _ count: Int) -> [Header] {
    UnsafeBufferPointer(start: start, count: start == nil ? 0 : count).map {
        Header(name: text($0.name) ?? "", value: text($0.value) ?? "")
    }
}

func bytes(_ pointer: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    pointer.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
}
