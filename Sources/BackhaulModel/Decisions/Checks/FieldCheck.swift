/// Checks that fields of several structs have in common. `name`: the field's in include/backhaul.h.
enum FieldCheck {
    static func range(_ value: UInt32, _ range: ClosedRange<UInt32>, _ name: String) throws(Failure) {
        guard range.contains(value) else {
            throw Failure(
                .invalidArgument, "\(name) is \(value), outside of \(range.lowerBound) to \(range.upperBound)")
        }
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
