import Backhaul
import Glibc

/// The command `report`: writes a page about a session or the whole store.
struct Report: DescribedCommand {
    static let description = CommandDescription(
        name: "report", operands: "[SESSION]", summary: "write a page about transfers, for a browser",
        examples: [
            "backhaul report -o report.html", "backhaul report --application org.example.photos -o photos.html",
            "backhaul report photos >photos.html",
        ],
        options: [
            OptionDescription("output", "o", "FILE", "the file of the page, or - for standard output (the default)")
        ],
        details: """
            The page has the transfers that `backhaul tasks` and `history` list, with their attempts and waits: what
            failed and why, which server is slow, and where the time went. It is one file of HTML, which loads nothing
            from a network. It has all sessions of all applications; SESSION and --application limit it. The page has
            URLs without their queries, and no headers and no passwords. FILE is replaced, and only you can read it.
            With --json the data of the page is written in place of the page.
            """, listing: .sessions)

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
            let sessions = try sessions(application, context)
            var reader = ReportReader(title: title(context))
            try context.forEachApplication(application) { (one) throws(CommandError) in
                for name in sessions[one.identifier] ?? [] {
                    // A session may have been removed after it was listed.
                    guard let session = try one.attachIfExists(name) else { continue }
                    try reader.read(session, sessions.count > 1 ? "\(name) of \(one.identifier)" : name)
                }
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

    private func title(_ context: Context) -> String {
        let application = context.isApplicationNamed ? " of \(context.applicationName)" : ""
        return (sessionName.map { "Session \($0)" } ?? "All sessions") + application
    }

    /// The sessions that the page has, by their applications.
    private func sessions(_ application: Application, _ context: Context) throws(CommandError) -> [String: [String]] {
        var found: [String: [String]] = [:]
        try context.forEachApplication(application) { (one) throws(CommandError) in
            let names = try one.run(.sessions).map(\.identifier).filter { name in
                sessionName.map { name == $0 || SessionVariant.isVariant(name, of: $0) } ?? true
            }
            if !names.isEmpty { found[one.identifier] = names.sorted() }
        }
        // Throws the error that says how to find the name.
        if let sessionName, found.isEmpty { _ = try application.attach(sessionName, role: .observe) }
        return found
    }
}
