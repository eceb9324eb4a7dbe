extension FixedWidthInteger {
    /// Returns the sum, or on overflow the smallest or largest number. Times and sizes that come from outside may be
    /// any number.
    @inlinable
    public func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
