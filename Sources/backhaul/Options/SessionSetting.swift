import CBackhaul

/// A field in the configuration of a session (a named collection of transfers). One option sets the field.
struct SessionSetting: Sendable {
    typealias Change = (inout bh_session_configuration) -> Void
    typealias Path<Value> = any WritableKeyPath<bh_session_configuration, Value> & Sendable

    let option: OptionDescription
    /// The field's name in messages of the library.
    let field: String
    /// Parses the option, and returns the change that the option makes. Returns nil if the option is not given.
    let change: @Sendable (Arguments) throws(CommandError) -> Change?

    /// `argument`: the word for the option's argument in the help.
    private init<Value: Sendable>(
        _ field: String, _ path: Path<Value>, _ option: String, _ argument: String, _ help: String,
        given: @escaping @Sendable (Arguments) throws(CommandError) -> Value?
    ) {
        self.option = OptionDescription(option, nil, argument, help)
        self.field = field
        change = { (arguments) throws(CommandError) in
            guard let value = try given(arguments) else { return nil }
            return { $0[keyPath: path] = value }
        }
    }

    /// A limit of at least 1. An empty value and 0 are the default.
    static func number(
        _ field: String, _ path: Path<UInt32>, _ option: String, upTo limit: Int64, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "NUMBER", help,
            given: { (arguments) throws(CommandError) in try arguments.setting(option, in: 0...limit) })
    }

    /// A number whose option may be 0. In the C header, 0 means the default, so the value 0 of the option is stored as
    /// `none`. An empty value is the default.
    static func number(
        _ field: String, _ path: Path<UInt32>, _ option: String, upTo limit: Int64, none: UInt32, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "NUMBER", help,
            given: { (arguments) throws(CommandError) in
                arguments.value(option) == "0" ? none : try arguments.setting(option, in: 0...limit)
            })
    }

    /// A duration of at most one day. The option has seconds, and the field has milliseconds. An empty value and 0 are
    /// the default.
    static func milliseconds(
        _ field: String, _ path: Path<UInt32>, _ option: String, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "SECONDS", help,
            given: { (arguments) throws(CommandError) in
                try arguments.durationSetting(option, upTo: 86_400).map { UInt32($0) }
            })
    }

    static func yesOrNo(_ field: String, _ path: Path<Int32>, _ option: String, _ help: String) -> SessionSetting {
        SessionSetting(
            field, path, option, "yes|no", help,
            given: { (arguments) throws(CommandError) in try arguments.yesOrNo(option) })
    }

    static func budget(_ field: String, _ path: Path<UInt64>, _ option: String, _ help: String) -> SessionSetting {
        SessionSetting(
            field, path, option, "BYTES|none|nothing", help,
            given: { (arguments) throws(CommandError) in try arguments.budget(option) })
    }

    static func word(
        _ field: String, _ path: Path<Int32>, _ option: String, _ words: [(String, Int)], _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, words.map { $0.0 }.joined(separator: "|"), help,
            given: { (arguments) throws(CommandError) in try arguments.choice(option, words) })
    }

    static func bits(
        _ field: String, _ path: Path<UInt32>, _ option: String, _ words: [(String, Int)], _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "LIST", help,
            given: { (arguments) throws(CommandError) in try arguments.bits(option, words) })
    }
}
