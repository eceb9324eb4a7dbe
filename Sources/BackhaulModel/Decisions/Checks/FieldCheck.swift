/// Shared checks for the fields of several structs. `name`: the name of the field in include/backhaul.h.
enum FieldCheck {
    static func range<Number: FixedWidthInteger>(
        _ value: Number, _ range: ClosedRange<Number>, _ name: String
    ) throws(Failure) {
        guard range.contains(value) else {
            throw Failure(
                .invalidArgument, "\(name) is \(value), outside of \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// Checks a time that a program gives, in Unix milliseconds.
    static func time(_ value: Int64?, _ name: String) throws(Failure) {
        guard let value, !(1...Limits.time).contains(value) else { return }
        throw Failure(.invalidArgument, "\(name) is \(value), not a time after 1970 and before the year 10000")
    }

    static func path(_ path: String, _ name: String) throws(Failure) {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= Limits.pathSize, !bytes.contains(0) else {
            throw Failure(
                .invalidArgument,
                "\(name) is not an absolute path of at most \(Limits.pathSize) bytes without NUL")
        }
    }
}
