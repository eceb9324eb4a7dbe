import Backhaul

struct Launches: DescribedCommand {
    static let description = CommandDescription(
        name: "launches", operands: "", summary: "list the registered programs and their launches",
        examples: ["backhaul launches", "backhaul launches --json"],
        details: """
            Lists the registered programs of all applications of the store. For each program, prints whether a launch is
            due or runs, and why the last launch failed. Of the variables that were registered, prints only the names.
            With --json, prints one line for each program.
            """, storeUse: .lists, usesSession: false)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`launches` takes no arguments; see `backhaul register`")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            for launch in try application.run(.launches) {
                if context.output.isJSON {
                    try context.output.result(launch.json)
                } else {
                    try context.output.result(lines: Launches.lines(launch))
                }
            }
            return .done
        }
    }

    private static func lines(_ launch: LaunchInfo) -> [String] {
        let program = ([launch.program] + launch.arguments).map(Text.quoted).joined(separator: " ")
        var fields = [
            ("application", launch.application), ("program", program), ("state", launch.stateSentence),
        ]
        if let error = launch.errorMessage { fields.append(("last failure", error)) }
        if let directory = launch.workingDirectory { fields.append(("directory", directory)) }
        if !launch.variables.isEmpty { fields.append(("environment", launch.variables.joined(separator: ", "))) }
        return fields.map { Text.padded($0.0 + ":", columns: 14) + Text.visible($0.1) } + [""]
    }
}
