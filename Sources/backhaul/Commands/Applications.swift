import Backhaul

struct Applications: DescribedCommand {
    static let description = CommandDescription(
        name: "applications", operands: "", summary: "list the applications of the store",
        examples: ["backhaul applications", "backhaul applications --json"],
        details: """
            Lists the applications that have a session, a registered program or a connected program: how many sessions,
            unfinished and running transfers and events they have, and how many of their programs are connected. With
            --json each application is one line.
            """, storeUse: .lists, usesSession: false)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`applications` takes no arguments; `backhaul sessions --application NAME` lists sessions")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let applications = try application.run(.applications)
            if context.output.isJSON {
                try context.output.result(lines: applications.map { $0.json.text })
            } else if !applications.isEmpty {
                let header = Applications.line("APPLICATION", ["SESSIONS", "LIVE", "RUNNING", "EVENTS", "CONNECTED"])
                try context.output.result(lines: [header] + applications.map(Applications.line))
            }
            return .done
        }
    }

    private static func line(_ info: ApplicationInfo) -> String {
        let counts = [info.sessions, info.liveTasks, info.runningTasks, info.events, UInt64(info.hosts)]
        return line(info.identifier, counts.map { String($0) })
    }

    private static func line(_ name: String, _ columns: [String]) -> String {
        Text.padded(name, columns: 32) + columns.map { Text.padded(left: $0, columns: 10) }.joined()
    }
}
