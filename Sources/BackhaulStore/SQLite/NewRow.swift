internal import BackhaulModel

/// The values of a row that is inserted or changed, each set with the name of its column. `Query` runs the function
/// that sets them with any values to list the columns for its statement, so the two cannot differ.
struct NewRow {
    private(set) var values: [Value]
    private var names: [String] = []
    private let isListed: Bool

    private init(isListed: Bool, first: [Value] = []) {
        self.isListed = isListed
        values = first
    }

    mutating func set(_ column: String, _ value: Value) {
        if isListed { names.append(column) }
        values.append(value)
    }

    /// The values that the function sets, after the first.
    static func values(_ first: Value..., write: (inout NewRow) -> Void) -> [Value] {
        var row = NewRow(isListed: false, first: first)
        row.values.reserveCapacity(48)
        write(&row)
        return row.values
    }

    /// The columns that the function sets.
    static func names(_ write: (inout NewRow) -> Void) -> [String] {
        var row = NewRow(isListed: true)
        write(&row)
        return row.names
    }
}
