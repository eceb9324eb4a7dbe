import Backhaul
import Glibc

/// The command `report`: writes a page about a session or the whole store.
struct Report: DescribedCommand {
    static let description = CommandDescription(
        name: "report", operands: "[SESSION]", summary: "write a page about transfers, for a browser",
        examples: ["backhaul report -o report.html", "backhaul report photos >photos.html"],
        options: [
            OptionDescription("output", "o", "FILE", "the file of the page, or - for standard output (the default)")
        ],
        details: """
            The page has the transfers that `backhaul tasks` and `history` list, with their attempts and waits: what
            failed and why, which server is slow, and where the time went. It is one file of HTML, which loads nothing
            from a network. Without SESSION, it has all sessions of the application. The page has URLs without their
            queries, and no headers and no passwords. FILE is replaced, and only you can read it. With --json the
            data of the page is written in place of the page.
            """)

    private let sessionName: String?
    /// The absolute path of the file. Nil means standard output.
    private let file: String?

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.count <= 1 else { throw .usage("`report` takes at most one session") }
        let named = arguments.isTyped("session") ? arguments.value("session") : nil
        if let operand = arguments.operands.first, let named, operand != named {
            throw .usage("the sessions '\(operand)' and '\(named)' (--session) differ; name one session")
        }
        sessionName = arguments.operands.first ?? named
        let output = arguments.value("output") ?? "-"
        file = output == "-" ? nil : try Paths.absolute(output)
        if file == nil, arguments.value("output") == nil, !arguments.has("json"), isatty(STDOUT_FILENO) == 1 {
            throw .usage("the page is for a browser, not for a terminal; give a file: --output report.html")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var reader = ReportReader(
                title: sessionName.map { "Session \($0)" } ?? "All sessions of \(context.applicationName)")
            for name in try names(application) {
                // A session may have been removed after it was listed.
                if let session = try application.attachIfExists(name) { try reader.read(session, name) }
            }
            let json = reader.data.json
            let text = context.output.isJSON ? json + "\n" : ReportPage(data: json).text
            if let file {
                try PrivateFile.write(text, to: file)
                context.output.note("Open \(file) in a browser.")
            } else if !Output.write(text, to: STDOUT_FILENO) {
                throw .stopped(.transferFailed, "standard output cannot be written: \(reasonOfLastError())")
            }
            return .done
        }
    }

    /// The names of the sessions that the page has.
    private func names(_ application: Application) throws(CommandError) -> [String] {
        let all = try application.run(.sessions).map(\.identifier)
        guard let sessionName else { return all.sorted() }
        let found = all.filter { $0 == sessionName || SessionVariant.isVariant($0, of: sessionName) }
        // Throws the error that says how to find the name.
        if found.isEmpty { _ = try application.attach(sessionName, role: .observe) }
        return found.sorted()
    }
}
