import CBackhaul

/// The options for constraints, which are demands on the system, such as external power. `get`, `add` and `put` apply
/// them to the new transfers, `configure` to the session (a named collection of transfers), and `constrain` to existing
/// transfers. The value `default` and an empty value remove a constraint.
struct ConstraintOptions {
    static let descriptions = [
        OptionDescription(
            "discretionary", nil, nil,
            "wait for external power, an unmetered network, a machine that is not hot, and 10 kB a second"),
        OptionDescription("overnight", nil, nil, "wait for the same, and for the time from 23:00 to 07:00"),
    ] + ConstraintsRecord.settings.map(\.option)

    /// The changes that the given options make.
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

    /// The preset (a name for several demands) that one of three options selects. Nil if none of these options is
    /// given.
    @Sendable
    static func preset(_ arguments: Arguments) throws(CommandError) -> Int32? {
        if arguments.has("discretionary") { return Int32(BH_PRESET_DISCRETIONARY) }
        if arguments.has("overnight") { return Int32(BH_PRESET_OVERNIGHT) }
        if arguments.isReset("discretionary") || arguments.isReset("overnight") { return Int32(BH_PRESET_DEFAULT) }
        return try arguments.choice("preset", Names.presets)
    }

    /// Changes the constraints whose options are given. The other constraints stay.
    func change(_ constraints: inout ConstraintsRecord) {
        for change in changes { change(&constraints) }
    }

    func change(_ fields: inout bh_constraints, _ arena: CStringArena) {
        var constraints = ConstraintsRecord(fields)
        change(&constraints)
        constraints.fill(&fields, arena)
    }
}
