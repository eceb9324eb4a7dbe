import Backhaul

/// The options for constraints. `get`, `add` and `put` apply them to the new transfers, `configure` to the session, and
/// `constrain` to existing transfers. The value `default` and an empty value remove a constraint.
struct ConstraintOptions {
    static let descriptions =
        [
            OptionDescription(
                "discretionary", nil, nil,
                "wait for external power, an unmetered network, a machine that is not hot, and 10 kB a second"),
            OptionDescription("overnight", nil, nil, "wait for the same, and for the time from 23:00 to 07:00"),
        ] + Constraints.settings.map(\.option)

    /// The changes that the given options make.
    private let changes: [ConstraintSetting.Change]

    var isGiven: Bool { !changes.isEmpty }

    init(_ arguments: Arguments) throws(CommandError) {
        let presets = ["discretionary", "overnight", "preset"].filter { arguments.has($0) }
        guard presets.count <= 1 else { throw .usage("--\(presets[0]) and --\(presets[1]) exclude each other") }
        var changes: [ConstraintSetting.Change] = []
        for setting in Constraints.settings {
            if let change = try setting.change(arguments) { changes.append(change) }
        }
        self.changes = changes
    }

    /// The preset that one of three options selects. Nil if none of these options is given.
    @Sendable
    static func preset(_ arguments: Arguments) throws(CommandError) -> Preset?? {
        if arguments.has("discretionary") { return .discretionary }
        if arguments.has("overnight") { return .overnight }
        if arguments.isReset("discretionary") || arguments.isReset("overnight") { return .some(nil) }
        return try arguments.choice("preset", [("none", nil)] + Preset.words.map { ($0.word, $0.value) })
    }

    /// Changes the constraints whose options are given. The other constraints stay.
    func change(_ constraints: inout Constraints) {
        for change in changes { change(&constraints) }
    }
}
