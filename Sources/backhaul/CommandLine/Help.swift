import Backhaul
import Glibc

/// The texts of `--help`. The text of a command begins with its examples.
enum Help {
    /// The width of the text. On a terminal, it follows the terminal, up to a width that is still easy to read.
    private static var columns: Int { min(max(40, Terminal(STDOUT_FILENO)?.size.columns ?? 80), 100) }

    static var program: String {
        var text = """
            Background transfers that continue after crashes and reboots.

              backhaul get https://example.org/large.iso     fetch a file and wait for it
              backhaul add -d ~/Music https://example.org/a.flac https://example.org/b.flac
                                                             enqueue files and exit
              backhaul wait                                  wait until all transfers have ended

            Usage: backhaul COMMAND [OPTION...] [ARGUMENT...]

            Commands:

            """
        for command in Commands.all {
            text += "  " + Text.padded(command.description.name, columns: 14) + command.description.summary + "\n"
        }
        text += "\nOptions of every command:\n" + list(OptionDescription.common)
        text += "\nOther options:\n" + list([.version])
        text += "\nExit codes:\n"
        for code in ExitCode.allCases { text += "  \(code.rawValue)  \(code.meaning)\n" }
        text += "\n`backhaul COMMAND --help` lists the options of a command.\n"
        return text
    }

    static func command(_ description: CommandDescription) -> String {
        var text = description.examples.map { "  " + $0 + "\n" }.joined()
        text += "\n" + description.summary.prefix(1).uppercased() + description.summary.dropFirst() + ".\n"
        let usage = "Usage: backhaul \(description.name) [OPTION...] \(description.operands)"
        text += "\n" + Text.wrapped(usage, columns: 80, indentation: 2) + "\n"
        for (section, options) in description.sections { text += "\n\(section.title):\n" + list(options) }
        if !description.details.isEmpty {
            text += "\n" + Text.wrapped(description.details, columns: columns) + "\n"
        }
        return text
    }

    static var version: String { "backhaul " + LibraryVersion.text + "\n" }

    private static func list(_ options: [OptionDescription]) -> String {
        let indentation = 29
        var text = ""
        for option in options {
            let synopsis = Text.padded("  " + option.synopsis, columns: indentation - 1)
            let isLong = Text.width(synopsis) >= indentation
            text += synopsis + (isLong ? "\n" + String(repeating: " ", count: indentation) : " ")
            text += Text.wrapped(option.help, columns: columns, indentation: indentation) + "\n"
        }
        return text
    }
}
