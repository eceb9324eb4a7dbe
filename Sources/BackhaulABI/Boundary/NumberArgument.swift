internal import BackhaulModel
internal import CBackhaul

// Unsafe: an array is used only during the call. The host guarantees that the array can be read until the call returns.

/// Checks numbers that are constants or have a range, and pointers that must not be NULL.
enum NumberArgument {
    /// The enum value for a constant of the header. `names`: the valid constants, for the error message.
    static func value<Value: RawRepresentable>(
        _ number: Int32, _ name: String, of names: String
    ) throws(Failure) -> Value where Value.RawValue == Int32 {
        guard let value = Value(rawValue: number) else {
            throw Failure(.invalidArgument, "\(name) is \(number); give \(names)")
        }
        return value
    }

    /// Checks a `size_t`, which Swift imports as Int. A `size_t` above the range of Int is negative here.
    static func count(_ count: Int, _ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int {
        guard range.contains(count) else {
            throw Failure(
                .invalidArgument,
                "\(name) is \(UInt(bitPattern: count)); give \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    static func priority(_ priority: Int32) throws(Failure) -> Int32 {
        guard (-100...Limits.priorityNow).contains(priority) else {
            throw Failure(.invalidArgument, "priority is \(priority); give -100 to 100 or BH_PRIORITY_NOW")
        }
        return priority
    }

    static func `required`<Pointer>(_ pointer: Pointer?, _ name: String) throws(Failure) -> Pointer {
        guard let pointer else { throw Failure(.invalidArgument, "\(name) is NULL, but it is required") }
        return pointer
    }

    /// The host's array, given by its pointer and its count. The array is not copied.
    static func array<Element>(
        _ pointer: UnsafePointer<Element>?, _ name: String, count: Int, _ countName: String, limit: Int
    ) throws(Failure) -> UnsafeBufferPointer<Element> {
        let count = try NumberArgument.count(count, countName, in: 0...limit)
        guard pointer != nil || count == 0 else {
            throw Failure(.invalidArgument, "\(name) is NULL, but \(countName) is \(count)")
        }
        return UnsafeBufferPointer(start: pointer, count: count)
    }
}
