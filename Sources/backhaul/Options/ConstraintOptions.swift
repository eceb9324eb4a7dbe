import CBackhaul

/// The options for constraints. With `get`, `add` and `put` they apply to the new transfers, with `configure` to the
/// session, with `constrain` to existing transfers. The word `default` removes a constraint.
struct ConstraintOptions {
    static let descriptions = [
        OptionDescription(
            "discretionary", nil, nil,
            "wait for external power, an unmetered network, a machine that is not hot, and 10 kB a second"),
        OptionDescription("overnight", nil, nil, "wait for the same, and for the time from 23:00 to 07:00"),
    ] + ConstraintsRecord.settings.map(\.option)

    /// The changes by the given options.
    private let changes: [ConstraintSetting.Change]

    var isGiven: Bool { !changes.isEmpty }

    init(_ arguments: Arguments) throws(CommandError) {
        let presets = ["discretionary", "overnight", "preset"].filter { arguments.has($0) }
        guard presets.count <= 1 else { throw .usage("--\(presets[0]) and --\(presets[1]) exclude each other.") }
        var changes: [ConstraintSetting.Change] = []
        for setting in ConstraintsRecord.settings {
            if let change = try setting.change(arguments) { changes.append(change) }
        }
        self.changes = changes
    }

    /// The preset, which three options can give.
    @Sendable
    static func preset(_ arguments: Arguments) throws(CommandError) -> Int32? {
        if arguments.has("discretionary") { return Int32(BH_PRESET_DISCRETIONARY) }
        if arguments.has("overnight") { return Int32(BH_PRESET_OVERNIGHT) }
        return try arguments.choice("preset", Names.presets)
    }

    /// Changes the constraints whose options are given. Others stay.
    func change(_ constraints: inout ConstraintsRecord) {
        for change in changes { change(&constraints) }
    }

    func change(_ fields: inout bh_constraints, _ arena: CStringArena) {
        var constraints = ConstraintsRecord(fields)
        change(&constraints)
        constraints.fill(&fields, arena)
    }
}
