internal import CBackhaul

// The functions below convert Swift values to C fields, or C fields to Swift values. In these C fields, 0 means the
// default. In Swift, nil means the default.

/// Converts a positive number to C, and nil to 0. Throws if the number is 0, because 0 means the default in C. Also
/// throws if the number is negative or too large.
func positive<Number: FixedWidthInteger>(
    _ value: (some BinaryInteger)?, _ name: String
) throws(BackhaulError) -> Number {
    guard let value else { return 0 }
    guard value > 0, let number = Number(exactly: value) else {
        throw BackhaulError(
            BH_INVALID_ARGUMENT,
            message:
                "\(name) is \(value), which is \(value > 0 ? "too large" : "not positive"); give another value, or nil")
    }
    return number
}

func positive<Number: FixedWidthInteger>(_ value: Duration?, _ name: String) throws(BackhaulError) -> Number {
    try positive(value.map { Int(clamping: $0.wholeMilliseconds) }, name)
}

/// Checks the maximum number of items that a method returns. In C, this number has no sign, so a negative number would
/// become a large one. The library checks the upper limit.
func pageSize(_ maximum: Int) throws(BackhaulError) -> Int {
    guard maximum > 0 else {
        throw BackhaulError(BH_INVALID_ARGUMENT, message: "maximum is \(maximum); give 1 to 10000")
    }
    return maximum
}

func nonzero<Number: FixedWidthInteger>(_ field: Number) -> Number? { field == 0 ? nil : field }

func number(_ field: UInt32) -> Int? { nonzero(field).map { Int($0) } }

func duration(_ milliseconds: some FixedWidthInteger) -> Duration? {
    nonzero(milliseconds).map { .milliseconds(Int64(clamping: $0)) }
}

func choice(_ value: Bool?) -> bh_choice { bh_choice(value.map { $0 ? BH_YES : BH_NO } ?? BH_DEFAULT) }

func choice(_ field: bh_choice) -> Bool? { Int(field) == BH_DEFAULT ? nil : Int(field) == BH_YES }

extension Duration {
    /// The duration in milliseconds. The value is rounded up, so that a positive duration does not become 0.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds > 0 ? Int64.max : Int64.min }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, overflowsToo) = thousands.addingReportingOverflow(rest)
        return overflowsToo ? Int64.max : sum
    }
}
