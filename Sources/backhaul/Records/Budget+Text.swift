import Backhaul

extension Budget {
    /// Null means no limit. 0 means that no byte may be moved.
    var json: JSON { .record("bh_budget", [("daily", .number(daily)), ("monthly", .number(monthly))]) }

    /// A larger budget as a round number, such as "2GB": at least twice this budget, and at least `needed` bytes.
    /// "none" if no such number is large enough.
    static func larger(than bytes: UInt64, _ needed: UInt64) -> String {
        guard bytes > 0 || needed > 0 else { return "1GB" }
        let (twice, overflow) = bytes.multipliedReportingOverflow(by: 2)
        let wanted = max(overflow ? bytes : twice, needed)
        for (unit, size) in [("MB", UInt64(1_000_000)), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)] {
            for digits in [UInt64(1), 2, 5, 10, 20, 50, 100, 200, 500] where digits * size >= wanted {
                return "\(digits)\(unit)"
            }
        }
        return "none"
    }
}
