import Backhaul

/// A setting of a session: the options of the command line that set it, and its member in JSON. Its default and its
/// range come from the library (`OptionDeclaration`). The settings with `isOfTransfer` and the constraints can also be
/// settings of one transfer.
struct Setting: Sendable {
    typealias Change = (inout SessionConfiguration) -> Void
    typealias Path<Value> = any WritableKeyPath<SessionConfiguration, Value?> & Sendable
    /// Returns nil if no option of the setting is given, and `.some(nil)` if an option selects the default.
    typealias Parser<Value> = @Sendable (Arguments) throws(CommandError) -> Value??

    /// The path of the field in the structs of the C header, such as `retry.jitter_percent`. It is also the path of the
    /// member in JSON.
    let field: String
    let options: [OptionDescription]
    /// Parses the options, and returns the change that they make. Nil if none of them is given.
    let change: @Sendable (Arguments) throws(CommandError) -> Change?
    /// The value in JSON. Nil for a secret.
    let json: (@Sendable (SessionConfiguration) -> JSON)?
    /// Whether `get`, `add` and `put` refuse the options, because they describe the session and not the transfers of
    /// one command.
    private(set) var isOnlyOfSession = false
    /// Names the setting in a message in place of the field.
    private(set) var words: String

    var isConstraint: Bool { field.hasPrefix("constraints.") }
    /// Whether a transfer can have a value of its own.
    var isOfTransfer: Bool { OptionDeclaration.all[field]?.isOfTransfer == true }

    init(
        _ field: String, _ options: [OptionDescription], json: (@Sendable (SessionConfiguration) -> JSON)?,
        change: @escaping @Sendable (Arguments) throws(CommandError) -> Change? = { _ in nil }
    ) {
        self.field = field
        self.options = options.map { $0.section(OptionSection(field: field)) }
        self.change = change
        self.json = json
        words = options.map { "--" + $0.name }.joined(separator: " or ")
    }

    /// - Parameter unset: The value in JSON if the property is nil.
    init<Value: Sendable>(
        _ field: String, _ path: Path<Value>, _ options: [OptionDescription], parse: @escaping Parser<Value>,
        json: @escaping @Sendable (Value) -> JSON, unset: JSON = .null
    ) {
        let resets: Set = field.hasPrefix("constraints.") ? ["", "default"] : [""]
        self.init(field, options, json: { $0[keyPath: path].map(json) ?? unset }) { (arguments) throws(CommandError) in
            let given = options.filter { arguments.has($0.name) }
            let isReset = given.allSatisfy { $0.argument != nil && resets.contains(arguments.value($0.name) ?? "") }
            guard !given.isEmpty || options.contains(where: { arguments.isReset($0.name) }) else { return nil }
            let value = try isReset ? .some(nil) : parse(arguments)
            return value.map { value in { $0[keyPath: path] = value } }
        }
    }

    /// The same setting, for `configure` only.
    var onlyOfSession: Setting {
        var copy = self
        copy.isOnlyOfSession = true
        return copy
    }

    /// The same setting, with other words for messages.
    func called(_ words: String) -> Setting {
        var copy = self
        copy.words = words
        return copy
    }

    /// The setting as `configure` lists it: the option that sets it, and its value. Nil if it has no value.
    func listed(_ configuration: SessionConfiguration) -> (name: String, value: String)? {
        guard let json = json?(configuration), case (_, let text)? = JSON.object([("", json)]).lines.first else {
            return nil
        }
        // A flag is its own value.
        if !options.isEmpty, options.allSatisfy({ $0.argument == nil }) {
            if options.contains(where: { $0.name == text }) { return ("--" + text, "yes") }
            guard case .bool = json else { return nil }
        }
        let name = options.first { $0.argument != nil && $0.name != "retry" } ?? options.first
        return (name.map { "--" + $0.name } ?? field.replacing("_", with: " "), shown(json, text))
    }

    private func shown(_ json: JSON, _ text: String) -> String {
        switch json {
        case .bool(let value) where field == "asks_for_credentials": value ? "ask" : "fail"
        case .integer, .unsigned: field.hasSuffix("_ms") ? UInt64(text).map(Text.duration(milliseconds:)) ?? text : text
        default: text
        }
    }
}

// MARK: Kinds of settings

extension Setting {
    /// What 0 means as the value of an option.
    enum Zero { case isDefault, isRefused, isValue }

    /// An empty value is the default.
    static func number(
        _ field: String, _ path: Path<Int>, _ option: String, argument: String = "NUMBER", zero: Zero = .isDefault,
        _ help: String
    ) -> Setting {
        let declaration = declaration(field)
        let range = (zero == .isRefused ? 1 : 0)...Int64(declaration.maximum)
        return Setting(
            field, path, [OptionDescription(option, nil, argument, help + note(declaration.number.map { "\($0)" }))],
            parse: { (arguments) throws(CommandError) in
                zero == .isValue && arguments.value(option) == "0" ? 0 : try arguments.setting(option, in: range)
            }, json: { .number($0) })
    }

    /// A duration. An empty value and 0 are the default.
    static func seconds(
        _ field: String, _ path: Path<Duration>, _ option: String, letter: Character? = nil, _ help: String
    ) -> Setting {
        let declaration = declaration(field)
        let standard = declaration.number.map {
            $0 % 86_400_000 == 0 ? Text.exactDuration(milliseconds: $0) : "\($0 / 1000)"
        }
        return Setting(
            field, path, [OptionDescription(option, letter, "SECONDS", help + note(standard))],
            parse: { (arguments) throws(CommandError) in
                try arguments.durationSetting(option, upTo: Double(declaration.maximum) / 1000)
            }, json: { .milliseconds($0) })
    }

    static func bytes(_ field: String, _ path: Path<UInt64>, _ option: String, _ help: String) -> Setting {
        Setting(
            field, path, [OptionDescription(option, nil, "BYTES", help)],
            parse: { (arguments) throws(CommandError) in try arguments.bytes(option) }, json: { .number($0) })
    }

    static func budget(_ field: String, _ path: Path<UInt64>, _ option: String, _ help: String) -> Setting {
        Setting(
            field, path, [OptionDescription(option, nil, "BYTES|none|nothing", help)],
            parse: { (arguments) throws(CommandError) in try arguments.budget(option) }, json: { .number($0) })
    }

    static func yesOrNo(_ field: String, _ path: Path<Bool>, _ option: String, _ help: String) -> Setting {
        let standard = declaration(field).number.map { $0 == 0 ? "no" : "yes" }
        return Setting(
            field, path, [OptionDescription(option, nil, "yes|no", help + note(standard))],
            parse: { (arguments) throws(CommandError) in try arguments.yesOrNo(option) }, json: { .bool($0) })
    }

    /// An option without an argument. `--reset` selects the default.
    static func flag(_ field: String, _ path: Path<Bool>, _ option: String, _ help: String) -> Setting {
        Setting(
            field, path, [OptionDescription(option, nil, nil, help)], parse: { $0.has(option) ? true : nil },
            json: { .bool($0) })
    }

    static func text(
        _ field: String, _ path: Path<String>, _ option: String, _ argument: String, _ help: String
    ) -> Setting {
        Setting(
            field, path, [OptionDescription(option, nil, argument, help + note(declaration(field).text))],
            parse: { $0.value(option).map { .some($0) } }, json: { .string($0) })
    }

    /// The absolute path of a file.
    static func file(
        _ field: String, _ path: Path<String>, _ option: String, letter: Character? = nil, _ help: String
    ) -> Setting {
        Setting(
            field, path, [OptionDescription(option, letter, "FILE", help)],
            parse: { (arguments) throws(CommandError) in
                guard let file = arguments.value(option) else { return nil }
                return try Paths.absolute(file)
            }, json: { .string($0) })
    }

    static func word<Value: Worded & Sendable & RawRepresentable<Int32>>(
        _ field: String, _ path: Path<Value>, _ option: String, _ help: String
    ) -> Setting {
        let standard = declaration(field).number.map { Value(rawValue: Int32(truncatingIfNeeded: $0)).word }
        return Setting(
            field, path,
            [OptionDescription(option, nil, Value.words.map(\.word).joined(separator: "|"), help + note(standard))],
            parse: { (arguments) throws(CommandError) in try arguments.choice(option, Value.self) },
            json: { .word($0) }, unset: unset(field))
    }

    /// One option without an argument for each word. At most one of them may be given, except with `lastCounts`: then
    /// the last of the words counts, which is the strictest.
    static func flags<Value: Worded & Sendable>(
        _ field: String, _ path: Path<Value>, unset: JSON? = nil, lastCounts: Bool = false, _ help: [String]
    ) -> Setting {
        let options = zip(Value.words, help).map { OptionDescription($0.word, nil, nil, $1) }
        return Setting(
            field, path, options,
            parse: { (arguments) throws(CommandError) in
                let given = Value.words.filter { arguments.has($0.word) }
                guard given.count <= 1 || lastCounts else {
                    throw .usage("--\(given[0].word) and --\(given[1].word) exclude each other")
                }
                return given.last.map { .some($0.value) }
            }, json: { .word($0) }, unset: unset ?? Setting.unset(field))
    }

    /// - Parameter everything: The word for the default, if there is one.
    static func set<Value: Worded & OptionSet & Sendable>(
        _ field: String, _ path: Path<Value>, _ option: String, everything: String? = nil, _ help: String
    ) -> Setting where Value.RawValue == UInt32 {
        let standard = declaration(field).number.map { Value(rawValue: UInt32(truncatingIfNeeded: $0)).members }
        let note = note(standard.map { $0.isEmpty ? "none" : $0.joined(separator: ",") })
        let words = Value.words.map(\.word) + [everything].compactMap { $0 }
        return Setting(
            field, path, [OptionDescription(option, nil, "LIST", help + note, words: words)],
            parse: { (arguments) throws(CommandError) in
                if let everything, arguments.value(option) == everything { return .some(nil) }
                return try arguments.set(option, Value.self)
            }, json: { .strings($0.isEmpty && $0.word != "unknown" ? [$0.word] : $0.members) })
    }

    private static func declaration(_ field: String) -> OptionDeclaration {
        guard let declaration = OptionDeclaration.all[field] else {
            // Cannot fail: a test compares the table with the declarations.
            preconditionFailure("the library has no option \(field)")
        }
        return declaration
    }

    private static func note(_ standard: String?) -> String { standard.map { " (\($0))" } ?? "" }

    /// The value in JSON of a constant that is nil. A stored session states each option with a default, so this
    /// constant is from a newer version of the library.
    private static func unset(_ field: String) -> JSON { declaration(field).hasDefault ? .string("unknown") : .null }
}

extension OptionSection {
    /// The section for the options of a setting.
    fileprivate init(field: String) {
        self =
            switch field.prefix(while: { $0 != "." }) {
            case "retry": .retry
            case "rules": .http
            case "constraints", "slow_after_ms", "slow_pause_ms", "discretionary_if_launched": .constraints
            case "tls": .tls
            case "proxy": .proxy
            case "budget", "bytes_per_second", "connections_per_origin", "maximum_running_tasks": .rates
            default: .session
            }
    }
}
