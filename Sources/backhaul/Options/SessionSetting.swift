import Backhaul

/// A property of a session's configuration. One option sets the property.
struct SessionSetting: Sendable {
    typealias Change = (inout SessionConfiguration) -> Void
    typealias Path<Value> = any WritableKeyPath<SessionConfiguration, Value> & Sendable

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
        _ field: String, _ path: Path<Int?>, _ option: String, upTo limit: Int64, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "NUMBER", help,
            given: { (arguments) throws(CommandError) in try arguments.setting(option, in: 0...limit) })
    }

    /// A limit of the history. An empty value is the default.
    static func history(
        _ field: String, _ path: Path<HistoryLimit?>, _ option: String, upTo limit: Int64, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "NUMBER", help,
            given: { (arguments) throws(CommandError) in
                if arguments.value(option) == "0" { return .noTasks }
                return try arguments.setting(option, in: 0...limit).map { $0.map { .tasks($0) } }
            })
    }

    /// A duration of at most one day. An empty value and 0 are the default.
    static func seconds(
        _ field: String, _ path: Path<Duration?>, _ option: String, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "SECONDS", help,
            given: { (arguments) throws(CommandError) in try arguments.durationSetting(option) })
    }

    static func yesOrNo(_ field: String, _ path: Path<Bool?>, _ option: String, _ help: String) -> SessionSetting {
        SessionSetting(
            field, path, option, "yes|no", help,
            given: { (arguments) throws(CommandError) in try arguments.yesOrNo(option) })
    }

    static func budget(_ field: String, _ path: Path<UInt64?>, _ option: String, _ help: String) -> SessionSetting {
        SessionSetting(
            field, path, option, "BYTES|none|nothing", help,
            given: { (arguments) throws(CommandError) in try arguments.budget(option) })
    }

    static func word<Value: Worded & Sendable>(
        _ field: String, _ path: Path<Value?>, _ option: String, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, Value.words.map(\.word).joined(separator: "|"), help,
            given: { (arguments) throws(CommandError) in try arguments.choice(option, Value.self) })
    }

    static func set<Value: Worded & OptionSet & Sendable>(
        _ field: String, _ path: Path<Value>, _ option: String, _ help: String
    ) -> SessionSetting {
        SessionSetting(
            field, path, option, "LIST", help,
            given: { (arguments) throws(CommandError) in try arguments.set(option, Value.self).map { $0 ?? [] } })
    }
}
