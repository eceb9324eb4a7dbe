internal import CBackhaul

/// Nil is the library's 0; a given 0 would silently become the default, so it is refused like any other bad number.
func positive<Number: FixedWidthInteger>(
    _ value: Int?, _ name: String
) throws(BackhaulError) -> Number {
    guard let value else { return 0 }
    guard value > 0, let number = Number(exactly: value) else {
        throw BackhaulError(
            BH_INVALID_ARGUMENT, message: "\(name) must be positive and fit the library's \(Number.bitWidth) bits.")
    }
    return number
}

func positive<Number: FixedWidthInteger>(_ value: Duration?, _ name: String) throws(BackhaulError) -> Number {
    try positive(value.map { Int(clamping: $0.wholeMilliseconds) }, name)
}

extension Duration {
    /// Rounded up, so that nothing positive becomes 0.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (thousands, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds > 0 ? Int64.max : Int64.min }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, overflowsToo) = thousands.addingReportingOverflow(rest)
        return overflowsToo ? Int64.max : sum
    }
}
