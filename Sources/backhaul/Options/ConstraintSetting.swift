import CBackhaul

/// A constraint that one option sets: how it is given and printed, and which field of the header it is.
struct ConstraintSetting: Sendable {
    typealias Change = (inout ConstraintsRecord) -> Void
    typealias Path<Value> = any WritableKeyPath<ConstraintsRecord, Value> & Sendable
    typealias Field<Value> = any WritableKeyPath<bh_constraints, Value> & Sendable

    let option: OptionDescription
    /// The field's name in JSON and in messages of the library.
    let field: String
    /// What the option changes; nil: it is not given.
    let change: @Sendable (Arguments) throws(CommandError) -> Change?
    let read: @Sendable (bh_constraints, inout ConstraintsRecord) -> Void
    let write: @Sendable (ConstraintsRecord, inout bh_constraints, CStringArena) -> Void
    /// Null: not set, so the preset decides.
    let json: @Sendable (ConstraintsRecord) -> JSON

    /// A number, of which 0 stands for the default; the words `default` and '' give it, too.
    private init<Value: FixedWidthInteger & Sendable>(
        _ name: String, _ field: Field<Value>, _ path: Path<Value>, _ option: OptionDescription,
        given: @escaping @Sendable (Arguments) throws(CommandError) -> Value?,
        json: @escaping @Sendable (Value) -> JSON
    ) {
        self.option = option
        self.field = name
        change = { (arguments) throws(CommandError) in
            guard let value = try arguments.takesBack(option.name) ? 0 : given(arguments) else { return nil }
            return { $0[keyPath: path] = value }
        }
        read = { fields, constraints in constraints[keyPath: path] = fields[keyPath: field] }
        write = { constraints, fields, _ in fields[keyPath: field] = constraints[keyPath: path] }
        self.json = { $0[keyPath: path] == 0 ? .null : json($0[keyPath: path]) }
    }

    /// A text, of which nil stands for the default.
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
            let value = given.isEmpty || arguments.takesBack(option.name) ? nil : given
            return { $0[keyPath: path] = value }
        }
        // Unsafe: a text is a batch's, which lives while it is copied, or an arena's, which lives as long as the
        // struct.
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

    /// `all` stands for no constraint.
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
    /// Whether the option says what it says when it is not given.
    fileprivate func takesBack(_ name: String) -> Bool { ["", "default"].contains(value(name)) }
}
