import CBackhaul

/// The options that `get` and `add` share, and the transfers that they describe.
struct TransferOptions {
    static let descriptions = [
        OptionDescription("output", "o", "FILE", "the file to make; with one URL only"),
        OptionDescription("directory", "d", "DIRECTORY", "where files are made (here)"),
        OptionDescription("input", "i", "FILE", "read more URLs from FILE, one a line; '-' is standard input"),
        OptionDescription("header", "H", "'NAME: VALUE'", "send this header; may be repeated"),
        OptionDescription("if-exists", nil, "fail|replace", "what to do when the file is there (fail)"),
        OptionDescription("priority", nil, "NUMBER", "-100 to 100, higher runs first (0)"),
        OptionDescription("ca-file", nil, "FILE", "trust these certificates (PEM) for this session from now on"),
        OptionDescription("tries", nil, "NUMBER", "give up after so many tries without progress, for this session"),
        OptionDescription(
            "credentials", nil, "ask|fail", "when a server asks for a credential: wait for one (ask), or fail"),
    ]

    static let naming = """
        Without --output a file gets the name of the last part of its URL's path, in the chosen directory and never
        elsewhere; without one it is index.html. The same command again finds what it handed over before.
        """

    let transfers: [Transfer]
    private let certificates: String?
    private let tries: UInt32?
    private let asksForCredentials: Bool?

    init(_ arguments: Arguments, startsSuspended: Bool = false) throws(CommandError) {
        var urls = arguments.operands
        for file in arguments.all("input") { urls += try TransferOptions.readURLs(file) }
        guard !urls.isEmpty else { throw .usage("There is no URL.") }
        let directory = try Paths.absolute(arguments.value("directory") ?? ".")
        let output = arguments.value("output")
        if output != nil && urls.count > 1 {
            throw .usage("--output names one file, but there are \(urls.count) URLs; use --directory.")
        }
        if output == "-" { throw .usage("Files cannot be written to standard output; name one with --output.") }
        var replaces = false
        switch arguments.value("if-exists") {
        case nil, "fail": break
        case "replace": replaces = true
        case .some(let value): throw .usage("--if-exists takes 'fail' or 'replace', not '\(value)'.")
        }
        var headers: [(name: String, value: String)] = []
        for text in arguments.all("header") { headers.append(try InputFile.header(text)) }
        let priority = Int32(try arguments.number("priority", in: -100...100) ?? 0)
        var transfers: [Transfer] = []
        for url in urls {
            let destination = if let output {
                output.hasPrefix("/") ? output : Paths.join(directory, output)
            } else {
                Paths.join(directory, FileName.from(url: url))
            }
            transfers.append(
                Transfer(
                    url: url, destination: TransferOptions.withoutDots(destination), headers: headers,
                    replaces: replaces, priority: priority, startsSuspended: startsSuspended))
        }
        self.transfers = transfers
        certificates = try arguments.value("ca-file").map { path throws(CommandError) in try Paths.absolute(path) }
        tries = try arguments.number("tries", in: 1...1_000_000).map { UInt32($0) }
        switch arguments.value("credentials") {
        case nil: asksForCredentials = nil
        case "ask": asksForCredentials = true
        case "fail": asksForCredentials = false
        case .some(let value): throw .usage("--credentials takes 'ask' or 'fail', not '\(value)'.")
        }
    }

    func settings(_ session: String) -> SessionSettings {
        SessionSettings(
            identifier: session, certificates: certificates, maximumAttempts: tries,
            asksForCredentials: asksForCredentials)
    }

    /// Hands over; a refusal names the transfer that it is about.
    func enqueue(_ session: Session) throws(CommandError) -> [bh_enqueued] {
        do {
            return try session.enqueue(transfers)
        } catch {
            guard case .failure(let failure) = error, let index = failure.index, transfers.indices.contains(index)
            else { throw error }
            let transfer = transfers[index]
            var sentence = "\(transfer.url): \(failure.message)"
            if failure.is(BH_KEY_CONFLICT) {
                sentence =
                    "\(transfer.url): \(transfer.destination) is the file of another transfer of this session, with "
                    + "another URL or other options, that has not ended or whose end nobody has read; see "
                    + "`backhaul tasks`"
            }
            throw .failure(failure.saying(sentence))
        }
    }

    /// "/a/./b" is "/a/b": the destination names the transfer, so one file has one spelling. ".." stays, because only
    /// the file system knows where it leads.
    private static func withoutDots(_ path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true).filter { $0 != "." }
        return "/" + parts.joined(separator: "/") + (path.hasSuffix("/") && !parts.isEmpty ? "/" : "")
    }

    private static func readURLs(_ file: String) throws(CommandError) -> [String] {
        try InputFile.lines(file).map { String($0.drop { $0 == " " || $0 == "\t" }) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
