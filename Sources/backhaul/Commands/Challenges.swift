import Backhaul

struct Challenges: DescribedCommand {
    static let description = CommandDescription(
        name: "challenges", operands: "", summary: "list the servers that ask for a credential",
        examples: ["backhaul challenges", "backhaul respond 3 --user ann"],
        details: """
            There is one challenge for each server or proxy and realm, even if many transfers wait for it. With --json
            each challenge is one line.
            """, storeUse: .lists)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`challenges` takes no arguments") }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var challenges: [Challenge] = []
            try context.forEachSession(application, role: .observe) { (session) throws(CommandError) in
                challenges += try session.run(.challenges)
            }
            if context.output.isJSON {
                try context.output.result(lines: challenges.map { $0.json.text })
            } else {
                try context.output.result(lines: challenges.map { Challenges.line($0) })
            }
            return .done
        }
    }

    private static func line(_ challenge: Challenge) -> String {
        let waiting = Text.count(Int(clamping: challenge.waitingTasks), "transfer waits", "transfers wait")
        let schemes = challenge.schemes.members.joined(separator: ", ")
        let takes = challenge.isRefresh ? "" : ", takes \(schemes)"
        return Text.padded(left: "\(challenge.id)", columns: 6) + "  " + Text.visible(challenge.sentence)
            + "; \(waiting)\(takes)"
    }
}
