import Backhaul

/// The help as JSON (`backhaul help --json`), from which programs make the manual. Its form may change in each version.
enum HelpDocument {
    static var program: JSON {
        .object([
            ("version", .string(LibraryVersion.text)),
            ("commands", .array(Commands.all.map { command($0.description) })),
            ("common_options", .array(OptionDescription.common.map(option))),
            ("other_options", .array([option(.version)])),
            ("exit_codes", .array(ExitCode.allCases.map(exitCode))),
        ])
    }

    static func command(_ command: CommandDescription) -> JSON {
        .object([
            ("name", .string(command.name)), ("operands", .string(command.operands)),
            ("summary", .string(command.summary)), ("details", .string(command.details)),
            ("examples", .strings(command.examples)), ("sections", .array(command.sections.map(section))),
        ])
    }

    private static func section(_ section: OptionSection, _ options: [OptionDescription]) -> JSON {
        .object([("title", .string(section.title)), ("options", .array(options.map(option)))])
    }

    private static func option(_ option: OptionDescription) -> JSON {
        let value: [(String, JSON)] =
            option.value.map {
                [("kind", .string($0.kind.rawValue)), ("words", .strings($0.words)), ("is_list", .bool($0.isList))]
            } ?? []
        return .object(
            [
                ("name", .string(option.name)), ("letter", .optional(option.letter.map { String($0) })),
                ("argument", .optional(option.argument)), ("help", .string(option.help)),
            ] + value)
    }

    private static func exitCode(_ code: ExitCode) -> JSON {
        .object([
            ("code", .integer(Int64(code.rawValue))), ("meaning", .string(code.meaning)),
            ("statuses", .strings(statuses.filter { ExitCode($0) == code }.map(\.name))),
        ])
    }

    /// All statuses of the library. The header has no list of their values, but the library has a name for each.
    private static var statuses: [Status] {
        (0..<Int32(Int8.max)).map(Status.init).filter { $0.name != Status(rawValue: -1).name }
    }
}
