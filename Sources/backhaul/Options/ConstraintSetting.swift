import CBackhaul

/// A constraint (a demand on the system) that one option sets: how the option is parsed, how the value is printed, and
/// which field of the C header's struct has the value.
struct ConstraintSetting: Sendable {
    typealias Change = (inout ConstraintsRecord) -> Void
    typealias Path<Value> = any WritableKeyPath<ConstraintsRecord, Value> & Sendable
    typealias Field<Value> = any WritableKeyPath<bh_constraints, Value> & Sendable

    let option: OptionDescription
    /// The field's name in JSON and in messages of the library.
    let field: String
    /// Parses the option, and returns the change that the option makes. Nil if the option is not given.
    let change: @Sendable (Arguments) throws(CommandError) -> Change?
    let read: @Sendable (bh_constraints, inout ConstraintsRecord) -> Void
    let write: @Sendable (ConstraintsRecord, inout bh_constraints, CStringArena) -> Void
    /// The value as JSON. Null if the constraint is not set. Then the preset (a name for several constraints) decides.
    let json: @Sendable (ConstraintsRecord) -> JSON

    /// A constraint that is a number. 0 means the default. The word `default` and an empty value mean 0.
    private init<Value: FixedWidthInteger & Sendable>(
        _ name: String, _ field: Field<Value>, _ path: Path<Value>, _ option: OptionDescription,
        given: @escaping @Sendable (Arguments) throws(CommandError) -> Value?,
        json: @escaping @Sendable (Value) -> JSON
    ) {
        self.option = option
        self.field = name
        change = { (arguments) throws(CommandError) in
            guard let value = try arguments.resetsToDefault(option.name) ? 0 : given(arguments) else { return nil }
            return { $0[keyPath: path] = value }
        }
        read = { fields, constraints in constraints[keyPath: path] = fields[keyPath: field] }
        write = { constraints, fields, _ in fields[keyPath: field] = constraints[keyPath: path] }
        self.json = { $0[keyPath: path] == 0 ? .null : json($0[keyPath: path]) }
    }

    /// A constraint that is a text. Nil means the default.
    static func text(
        _ name: String, _ field: Field<UnsafePointer<CChar>?>, _ path: Path<String?>, _ option: OptionDescription
    ) -> ConstraintSetting {
        ConstraintSetting(name, field, path, option)
    }

    private init(
        _ name: String, _ field: Field<UnsafePointer<CChar>?>, _ path: Path<String?>, _ option: OptionDescription
    ) {
        self.option = option
        self.field = name
        change = { arguments in
            guard let given = arguments.value(option.name) else { return nil }
            let value = given.isEmpty || arguments.resetsToDefault(option.name) ? nil : given
            return { $0[keyPath: path] = value }
        }
        // Unsafe: a text that is read belongs to a batch (a list that the library has returned), which is released
        // after the text is copied. A text that is written belongs to the arena, which exists as long as the struct.
        read = { fields, constraints in constraints[keyPath: path] = backhaul.text(fields[keyPath: field]) }
        write = { constraints, fields, arena in
            fields[keyPath: field] = constraints[keyPath: path].flatMap { arena.string(unlessEmpty: $0) }
        }
        json = { .optional($0[keyPath: path]) }
    }

    static func choice(
        _ name: String, _ field: Field<Int32>, _ path: Path<Int32>, _ option: OptionDescription
    ) -> ConstraintSetting {
        ConstraintSetting(
            name, field, path, option,
            given: { (arguments) throws(CommandError) in try arguments.yesOrNo(option.name) },
            json: { .choice($0) })
    }

    static func word(
        _ name: String, _ field: Field<Int32>, _ path: Path<Int32>, _ option: OptionDescription,
        _ words: [(String, Int)]
    ) -> ConstraintSetting {
        word(
            name, field, path, option, words,
            given: { (arguments) throws(CommandError) in try arguments.choice(option.name, words) })
    }

    static func word(
        _ name: String, _ field: Field<Int32>, _ path: Path<Int32>, _ option: OptionDescription,
        _ words: [(String, Int)], given: @escaping @Sendable (Arguments) throws(CommandError) -> Int32?
    ) -> ConstraintSetting {
        ConstraintSetting(
            name, field, path, option, given: given, json: { .word($0, words) })
    }

    /// A constraint that is a set of bits. The word `all` means no constraint.
    static func bits(
        _ name: String, _ field: Field<UInt32>, _ path: Path<UInt32>, _ option: OptionDescription,
        _ words: [(String, Int)]
    ) -> ConstraintSetting {
        ConstraintSetting(
            name, field, path, option,
            given: { (arguments) throws(CommandError) in
                arguments.value(option.name) == "all" ? 0 : try arguments.bits(option.name, words)
            },
            json: { .words($0, words) })
    }

    static func percent(
        _ name: String, _ field: Field<UInt32>, _ path: Path<UInt32>, _ option: OptionDescription
    ) -> ConstraintSetting {
        ConstraintSetting(
            name, field, path, option,
            given: { (arguments) throws(CommandError) in try arguments.percent(option.name) },
            json: { .number($0) })
    }

    static func bytes(
        _ name: String, _ field: Field<UInt64>, _ path: Path<UInt64>, _ option: OptionDescription
    ) -> ConstraintSetting {
        ConstraintSetting(
            name, field, path, option,
            given: { (arguments) throws(CommandError) in try arguments.bytes(option.name) },
            json: { .number($0) })
    }
}

extension Arguments {
    /// Whether the option's value resets the constraint to its default.
    fileprivate func resetsToDefault(_ name: String) -> Bool { ["", "default"].contains(value(name)) }
}
