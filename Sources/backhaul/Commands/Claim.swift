import Backhaul

struct Claim: DescribedCommand {
    static let description = CommandDescription(
        name: "claim", operands: "TASK FILE", summary: "move a kept file from the store to a path",
        examples: ["backhaul claim --application org.example.photos -s gallery 12 picture.jpg"],
        options: [OptionDescription("if-exists", nil, "fail|replace", "what to do when the file is there (fail)")],
        details: """
            Programs may download files without a destination. The store keeps these files until they are claimed.
            With --json one document: {"task_id": NUMBER, "path": PATH}.
            """)

    private let task: TaskID
    private let destination: String
    private let policy: ExistsPolicy

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.count == 2, let task = UInt64(arguments.operands[0]) else {
            throw .usage("`claim` takes a task's number and a file")
        }
        self.task = TaskID(rawValue: task)
        destination = try Paths.absolute(arguments.operands[1])
        switch arguments.value("if-exists") {
        case nil, "fail": policy = .fail
        case "replace": policy = .replace
        case .some(let value): throw .usage("--if-exists takes 'fail' or 'replace', not '\(value)'")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try context.attach(application, role: .produce, task: task)
            try session.run(.claim(task, to: destination, ifExists: policy))
            if context.output.isJSON {
                try context.output.result(.object([("task_id", .id(task)), ("path", .string(destination))]))
            } else {
                try context.output.result(Text.visible(destination))
            }
            return .done
        }
    }
}
