import struct BackhaulModel.SecretRedactor
import struct BackhaulModel.ShownURL
import Glibc

/// The user's configuration file: defaults of options by command. docs/command-line.md describes its format.
struct ConfigurationFile {
    static let option = OptionDescription("no-config", nil, nil, "read no configuration file")

    /// The section whose options apply to every command.
    private static let everyCommand = "*"
    private static let variable = "BACKHAUL_CONFIG"

    /// One option of the file.
    private struct Line {
        let option: OptionDescription
        let value: String
        /// The position for messages, such as "/home/ann/.config/backhaul/config:3".
        let place: String
    }

    private var lines: [String: [Line]] = [:]

    /// Reads the file of the user. Nil if there is none.
    static func ofUser() throws(CommandError) -> ConfigurationFile? {
        guard let (path, isNamed) = try path(), isNamed || Paths.exists(path) else { return nil }
        let text = String(decoding: try content(path), as: UTF8.self)
        return try ConfigurationFile(text, path: path, secrecy: PrivateFile.problem(path))
    }

    private static func content(_ path: String) throws(CommandError) -> [UInt8] {
        do {
            return try InputFile.content(path)
        } catch {
            guard case .usage(let problem) = error else { throw error }
            throw .usage("the configuration file \(problem); make it readable, or ignore it with --no-config")
        }
    }

    /// - Parameter secrecy: Why the file must have no secret. Nil if other users cannot read the file.
    init(_ text: String, path: String, secrecy: String?) throws(CommandError) {
        var sections: [CommandDescription?] = []
        var problems: [String] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let place = "\(path):\(number + 1)"
            let words = InputFile.trimmed(line)
            if words.isEmpty || words.hasPrefix("#") { continue }
            do throws(CommandError) {
                if words.hasPrefix("[") {
                    sections = []
                    sections = try ConfigurationFile.sections(words)
                } else {
                    try add(words, to: sections, place, secrecy: secrecy)
                }
            } catch {
                if case .usage(let problem) = error { problems.append("\(place): \(problem)") }
            }
        }
        guard problems.isEmpty else { throw .usage(problems.joined(separator: "\n")) }
    }

    /// The path of the file, and whether `$BACKHAUL_CONFIG` names it. Nil if no directory for it is known.
    private static func path() throws(CommandError) -> (path: String, isNamed: Bool)? {
        if let path = environment(variable) {
            guard path.hasPrefix("/") else {
                throw .usage("\(variable) is the relative path \(path); give an absolute path")
            }
            return (path, true)
        }
        return Paths.configurationDirectory.map { (Paths.join($0, "backhaul/config"), false) }
    }

    /// Parses the header of a section, such as `[*]`, `[get]` or `[get add]`. Nil stands for every command.
    private static func sections(_ header: String) throws(CommandError) -> [CommandDescription?] {
        let names = header.dropFirst().dropLast().split(whereSeparator: \.isWhitespace).map(String.init)
        guard header.hasSuffix("]"), !names.isEmpty else {
            throw .usage("a section begins with a line such as [get], or [*] for every command")
        }
        var sections: [CommandDescription?] = []
        for name in names {
            let command = Commands.named(name)?.description
            guard command != nil || name == everyCommand else {
                let known = Commands.all.map(\.description.name)
                throw .usage("there is no command '\(name)'" + Suggestion.phrase(for: name, among: known))
            }
            sections.append(command)
        }
        return sections
    }

    /// Parses a line such as `limit-rate = 2M`, or `discretionary` for an option without a value.
    private mutating func add(
        _ words: String, to sections: [CommandDescription?], _ place: String, secrecy: String?
    ) throws(CommandError) {
        guard !sections.isEmpty else {
            throw .usage("this line is below no valid header; write [get] or the name of another command above it")
        }
        let equals = words.firstIndex(of: "=")
        let name = InputFile.trimmed(words[..<(equals ?? words.endIndex)])
        for command in sections {
            let option = try ConfigurationFile.option(name, of: command)
            guard option.argument == nil || equals != nil else {
                throw .usage("\(name) needs a value; write \(name) = \(option.argument ?? "")")
            }
            guard option.argument != nil || equals == nil else {
                throw .usage("\(name) takes no value; write \(name) alone")
            }
            let text = equals.map { InputFile.trimmed(words[words.index(after: $0)...]) } ?? ""
            if let secrecy, ConfigurationFile.isSecret(name, text) {
                throw .usage("\(name) has a secret, but \(secrecy)")
            }
            let value = try ConfigurationFile.expanded(text, option)
            let section = command?.name ?? ConfigurationFile.everyCommand
            lines[section, default: []].append(Line(option: option, value: value, place: place))
        }
    }

    /// - Parameter command: Nil stands for every command.
    private static func option(
        _ name: String, of command: CommandDescription?
    ) throws(CommandError) -> OptionDescription {
        let options = command?.allOptions ?? OptionDescription.common
        guard name != "help", name != option.name else { throw .usage("\(name) can only be on the command line") }
        if let option = options.first(where: { $0.name == name && $0.isShown }) { return option }
        let first = name.prefix { $0 != " " && $0 != "\t" }
        if let option = options.first(where: { $0.name == first && $0.isShown }) {
            throw .usage(
                option.argument.map { "'=' is missing after \(first); write \(first) = \($0)" }
                    ?? "\(first) takes no value; write \(first) alone")
        }
        let owner = command.map { "`\($0.name)` has no option '\(name)'" } ?? "'\(name)' is no option of every command"
        if let user = Commands.all.first(where: { $0.has(name) }) {
            throw .usage("\(owner); write it below the names of its commands, such as [\(user.description.name)]")
        }
        let known = options.filter { $0.isShown && $0.name != "help" }.map(\.name)
        let advice =
            Suggestion.nearest(to: name, among: known).map { "did you mean '\($0)'?" }
            ?? "`backhaul \(command?.name ?? "") --help` lists the options, which are written without hyphens"
        throw .usage("\(owner); \(advice)")
    }

    /// Whether other users must not read the value: a password, or a header with a credential.
    private static func isSecret(_ name: String, _ value: String) -> Bool {
        switch name {
        case "user", "proxy-user": value.contains(":")
        case "header": SecretRedactor.isSecret(field: String(value.prefix { $0 != ":" }))
        default: value.contains("://") && ShownURL(value).hasUser
        }
    }

    /// The value with the home directory in place of a "~/" at its start, as the shell replaces it on a command line.
    private static func expanded(_ value: String, _ option: OptionDescription) throws(CommandError) -> String {
        guard value == "~" || value.hasPrefix("~/"), ["FILE", "DIRECTORY"].contains(option.argument) else {
            return value
        }
        guard let home = environment("HOME") else { throw .usage("HOME is not set; write the path without ~") }
        return home + value.dropFirst()
    }
}

// MARK: The defaults of one command

extension ConfigurationFile {
    /// Options of which only one can be given. If one of them is on the command line, the file's lines for the others
    /// do not apply.
    private static let alternatives: [[String]] =
        Setting.all.map { $0.options.map(\.name) }
        + [
            ["if-exists", "if-changed"], ["if-exists", "skip-existing"], ["if-changed", "skip-existing"],
            ["if-changed", "remote-header-name"], ["skip-existing", "remote-header-name"],
            ["output", "remote-header-name"], ["embedded", "daemon"], ["user", "netrc"], ["user", "netrc-file"],
            ["user", "netrc-optional"], ["timeout", "no-wait"],
        ]

    /// Adds the options of the user's file to those of the command line, unless the command line ignores the file.
    static func addDefaults(to arguments: inout Arguments, of command: CommandDescription) throws(CommandError) {
        if arguments.has(option.name) { return }
        try ofUser()?.addDefaults(to: &arguments, of: command)
    }

    /// Adds the file's options to those of the command line. A line does not apply if the command line has the option
    /// or an alternative to it. A launch and the variable of the store come before the file, too.
    private func addDefaults(to arguments: inout Arguments, of command: CommandDescription) {
        let isLaunched = environment("BACKHAUL_LAUNCH") != nil
        var hidden = Set(isLaunched ? ["session", "application"] : [])
        if environment(Paths.storeVariable) != nil { hidden.insert("store") }
        for group in ConfigurationFile.alternatives where group.contains(where: arguments.has) {
            hidden.formUnion(group)
        }
        let own = lines[command.name] ?? []
        let general = (lines[ConfigurationFile.everyCommand] ?? []).filter { line in
            !own.contains { $0.option.name == line.option.name }
        }
        let typed = arguments
        for line in general + own where !hidden.contains(line.option.name) && !typed.has(line.option.name) {
            arguments.addDefault(line.option.name, line.value, from: line.place)
        }
    }
}

extension CommandEntry {
    fileprivate func has(_ option: String) -> Bool {
        description.allOptions.contains { $0.name == option && $0.isShown }
    }
}
