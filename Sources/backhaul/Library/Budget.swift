import CBackhaul

/// The number of bytes that may be moved in a day or month.
struct Budget: Equatable {
    /// The value of a field of `bh_budget`. 0 means no limit. `BH_BUDGET_NOTHING` means a budget of 0 bytes.
    let field: UInt64

    init(_ field: UInt64) { self.field = field }

    /// The number of bytes. Nil means no limit.
    var bytes: UInt64? { field == 0 ? nil : field == UInt64.max ? 0 : field }

    /// The daily and monthly budgets as JSON. Null means no limit. 0 means that no byte may be moved.
    static func json(_ budget: bh_budget) -> JSON {
        .record(of: bh_budget.self, [("daily", Budget(budget.daily).json), ("monthly", Budget(budget.monthly).json)])
    }

    private var json: JSON { bytes.map { .unsigned($0) } ?? .null }

    func isUsedUp(by used: UInt64) -> Bool { bytes.map { used >= $0 } ?? false }

    /// A larger budget as a round number, such as "2GB": at least twice this budget, and at least `needed` bytes.
    /// "none" if no such number is large enough.
    func larger(_ needed: UInt64) -> String {
        guard let bytes, bytes > 0 || needed > 0 else { return "1GB" }
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
