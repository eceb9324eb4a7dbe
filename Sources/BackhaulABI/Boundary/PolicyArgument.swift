internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the struct, and all data that it points to, can be read until the call returns. All
// of it is copied here.

/// Reads `bh_policy`. Fields that are not set are nil.
enum PolicyArgument {
    private static let minimumSize = StructArgument.end(of: \bh_policy.bytes_per_second)

    static func read(_ pointer: UnsafePointer<bh_policy>?) throws(Failure) -> TaskPolicy {
        guard let pointer else { return TaskPolicy() }
        var given = try StructArgument.read(pointer, "policy", into: bh_policy(), minimumSize: minimumSize)
        var policy = TaskPolicy()
        try FieldExchange.read { (exchange) throws(Failure) in
            try exchange.fields(
                &given.retry, &given.rules, &given.constraints, &given.bytes_per_second, &policy)
        }
        return policy
    }

    /// The number, or nil if it is 0, which means "not set".
    static func unlessZero<Number: FixedWidthInteger>(_ number: Number) -> Number? { number == 0 ? nil : number }

    static func choice(_ given: Int32, _ name: String) throws(Failure) -> Bool? {
        switch Int(given) {
        case BH_DEFAULT: return nil
        case BH_YES: return true
        case BH_NO: return false
        default: throw Failure(.invalidArgument, "\(name) is \(given); give BH_DEFAULT, BH_YES or BH_NO")
        }
    }
}
