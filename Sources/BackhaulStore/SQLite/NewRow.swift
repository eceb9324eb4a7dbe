internal import BackhaulModel

/// The values of a row to insert or change. A function sets each value together with the name of its column. To list
/// the columns of a statement, `Query` runs the same function with arbitrary values. So the list and the values cannot
/// differ. The schema declares the columns of options with the same function.
struct NewRow {
    private(set) var values: [Value]
    private var names: [String] = []
    private var declarations: [String] = []
    private let collectsNames: Bool
    private var areNotNull = false

    private init(collectsNames: Bool, first: [Value] = []) {
        self.collectsNames = collectsNames
        values = first
    }

    mutating func set(_ column: String, _ value: Value) {
        if collectsNames { names.append(column) }
        values.append(value)
    }

    /// Sets the column of an option. `type`: its type in the schema.
    mutating func set(_ column: @autoclosure () -> String, as type: String, isNull: Bool = false, _ value: Value) {
        guard collectsNames else { return values.append(value) }
        set(column(), value)
        declarations.append("\(column()) \(type)\(isNull && !areNotNull ? "" : " NOT NULL")")
    }

    /// Returns `first`, followed by the values that the function sets.
    static func values(_ first: Value..., write: (inout NewRow) -> Void) -> [Value] {
        var row = NewRow(collectsNames: false, first: first)
        row.values.reserveCapacity(48)
        write(&row)
        return row.values
    }

    /// Returns the names of the columns that the function sets.
    static func names(_ write: (inout NewRow) -> Void) -> [String] {
        var row = NewRow(collectsNames: true)
        write(&row)
        return row.names
    }

    /// Returns the declarations of the columns of the options that the function visits.
    /// `areNotNull`: whether the columns of optional fields are declared NOT NULL, too.
    static func declarations(areNotNull: Bool = false, _ visit: (inout NewRow) -> Void) -> String {
        var row = NewRow(collectsNames: true)
        row.areNotNull = areNotNull
        visit(&row)
        return row.declarations.joined(separator: ",\n    ")
    }
}
