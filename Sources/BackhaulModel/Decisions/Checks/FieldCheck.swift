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

/// Checks that each number is in the range of its option, and that sets of bits have no unknown bit.
struct RangeCheck: FieldVisitor {
    typealias Problem = Failure

    func visit<Value>(_ value: inout Value, _ option: Option<Value>) throws(Failure) {
        guard case .integer(let number) = value.content else { return }
        if let range = option.range { try FieldCheck.range(number, range, option.name) }
        if case .bits(let known) = Value.kind, number & ~UInt64(known) != 0 {
            throw Failure(
                .invalidArgument,
                "\(option.name) has the unknown bits 0x\(String(number & ~UInt64(known), radix: 16))")
        }
    }

    func visit<Value>(_ value: inout Value?, _ option: Option<Value>) throws(Failure) {
        if var stated = value { try visit(&stated, option) }
    }

    func visit(_ headers: inout [HeaderField], _ name: String) {}
}
