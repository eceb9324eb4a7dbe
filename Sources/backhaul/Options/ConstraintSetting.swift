import Backhaul

/// A constraint that one option sets: how the option is parsed, and how the value is printed. Nil means the default.
/// The word `default` and an empty value select the default.
struct ConstraintSetting: Sendable {
    typealias Change = (inout Constraints) -> Void
    typealias Path<Value> = any WritableKeyPath<Constraints, Value?> & Sendable

    let option: OptionDescription
    /// The field's name in JSON and in messages of the library.
    let field: String
    /// Parses the option, and returns the change that the option makes. Nil if the option is not given.
    let change: @Sendable (Arguments) throws(CommandError) -> Change?
    /// The value as JSON. Null if the constraint is not set. Then the preset decides.
    let json: @Sendable (Constraints) -> JSON

    /// - Parameter given: Returns nil if the option is missing, and `.some(nil)` if it selects the default.
    private init<Value: Sendable>(
        _ field: String, _ path: Path<Value>, _ option: OptionDescription,
        given: @escaping @Sendable (Arguments) throws(CommandError) -> Value??,
        json: @escaping @Sendable (Value) -> JSON
    ) {
        self.option = option
        self.field = field
        change = { (arguments) throws(CommandError) in
            let resets = ["", "default"].contains(arguments.value(option.name))
            guard let value = try resets ? .some(nil) : given(arguments) else { return nil }
            return { $0[keyPath: path] = value }
        }
        self.json = { $0[keyPath: path].map(json) ?? .null }
    }

    static func text(_ field: String, _ path: Path<String>, _ option: OptionDescription) -> ConstraintSetting {
        ConstraintSetting(
            field, path, option, given: { $0.value(option.name).map { .some($0) } }, json: { .string($0) })
    }

    static func choice(_ field: String, _ path: Path<Bool>, _ option: OptionDescription) -> ConstraintSetting {
        ConstraintSetting(
            field, path, option,
            given: { (arguments) throws(CommandError) in try arguments.yesOrNo(option.name) },
            json: { .bool($0) })
    }

    static func word<Value: Worded & Sendable>(
        _ field: String, _ path: Path<Value>, _ option: OptionDescription
    ) -> ConstraintSetting {
        ConstraintSetting(
            field, path, option,
            given: { (arguments) throws(CommandError) in try arguments.choice(option.name, Value.self) },
            json: { .word($0) })
    }

    /// One of three options selects the preset.
    static func preset(_ field: String, _ path: Path<Preset>, _ option: OptionDescription) -> ConstraintSetting {
        ConstraintSetting(field, path, option, given: ConstraintOptions.preset, json: { .word($0) })
    }

    /// A set of kinds. The word `all` means no constraint.
    static func set<Value: Worded & OptionSet & Sendable>(
        _ field: String, _ path: Path<Value>, _ option: OptionDescription
    ) -> ConstraintSetting {
        ConstraintSetting(
            field, path, option,
            given: { (arguments) throws(CommandError) in
                arguments.value(option.name) == "all" ? .some(nil) : try arguments.set(option.name, Value.self)
            },
            json: { .strings($0.members) })
    }

    static func percent(_ field: String, _ path: Path<Int>, _ option: OptionDescription) -> ConstraintSetting {
        ConstraintSetting(
            field, path, option,
            given: { (arguments) throws(CommandError) in try arguments.setting(option.name, in: 0...100) },
            json: { .number($0) })
    }

    static func bytes(_ field: String, _ path: Path<UInt64>, _ option: OptionDescription) -> ConstraintSetting {
        ConstraintSetting(
            field, path, option,
            given: { (arguments) throws(CommandError) in try arguments.bytes(option.name) },
            json: { .number($0) })
    }
}
