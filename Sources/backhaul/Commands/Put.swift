import Backhaul

/// The command `put`: uploads files and waits until the uploads have ended.
struct Put: DescribedCommand {
    static let description = CommandDescription(
        name: "put", operands: "[FILE...] URL", summary: "upload files and wait for the end",
        examples: [
            "backhaul put report.pdf https://example.org/reports/",
            "backhaul put -F title=Holidays -F photo=@1.jpg https://example.org/upload",
        ],
        mainOptions: [
            "upload-file", "form", "data-binary", "request", "header", "body-source", "no-wait", "group", "limit-rate",
            "retry",
        ],
        options: [
            OptionDescription("upload-file", "T", "FILE", "send FILE; may be repeated, and may be an argument instead")
        ] + RequestOptions.descriptions + CurlOptions.uploadDescriptions + BodyOptions.descriptions
            + Setting.options(Setting.transferSettings) + CredentialOptions.userOptions + CredentialOptions.netrcOptions
            + [
                Watch.timeoutOption,
                OptionDescription("suspended", nil, nil, "with --no-wait: do not start before `backhaul resume`"),
                OptionDescription("no-wait", nil, nil, "enqueue and exit, as `add` does"),
            ],
        variantOptions: Setting.variantOptions,
        details: """
            Each file is sent in a PUT request of its own; to a URL that ends in '/' the file's name is added. --form
            sends one POST request and --data-binary one PUT request; --request changes the method. If a file changes
            before it is sent completely, its transfer fails; --body-source snapshot sends a copy that is made now.

            Prints the URL of each transfer that succeeded. With --json, prints one line for each transfer when it has
            ended, with the response's body. Each `put` makes a new transfer: after Ctrl-C, `backhaul wait` follows it.
            """, isHost: true, storeUse: .makes)

    private let transfers: [Transfer]
    private let session: SettingOptions
    private let credentials: CredentialOptions
    private let timeout: Int64?
    private let waits: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        try CurlOptions.check(arguments)
        guard let url = arguments.operands.last else { throw .usage("`put` needs a URL: `backhaul put FILE URL`") }
        let files = arguments.operands.dropLast() + arguments.all("upload-file")
        // For `curl -T`, a file with the name "-" means standard input. `put` refuses this name.
        if files.contains("-") { throw .usage("standard input is sent with --data-binary @-, as one request") }
        if arguments.has("max-filesize") { throw .usage("--max-filesize limits downloads, and `put` uploads") }
        let request = try RequestOptions(arguments)
        let body = try BodyOptions(arguments)
        var transfers: [Transfer] = []
        if let given = body.body {
            guard files.isEmpty else {
                throw .usage("--form and --data-binary cannot be used together with files; leave out the files")
            }
            try body.checkSource()
            transfers.append(Transfer(request: request.request(url, destination: nil)))
            transfers[0].request.body = given
        } else if files.isEmpty {
            guard request.takesBody else { throw .usage("`put` needs a file: `backhaul put FILE URL`") }
            transfers.append(Transfer(request: request.request(url, destination: nil)))
            transfers[0].request.body = .bytes([])
        } else {
            guard files.count == 1 || url.hasSuffix("/") else {
                throw .usage(
                    "there are \(files.count) files, so the URL must end in '/', to which their names are added")
            }
            for file in files {
                var request = request.request(try Put.url(url, file), destination: nil)
                request.body = .file(try Paths.absolute(file), body.source)
                transfers.append(Transfer(request: request))
            }
        }
        waits = !arguments.has("no-wait")
        if waits && arguments.has("suspended") { throw .usage("--suspended goes with --no-wait") }
        if !waits && arguments.has("timeout") { throw .usage("--timeout and --no-wait exclude each other") }
        for index in transfers.indices { transfers[index].request.startsSuspended = arguments.has("suspended") }
        self.transfers = transfers
        session = try SettingOptions.ofVariant(arguments)
        if !waits { try CredentialOptions.refuse(arguments, for: "put --no-wait") }
        credentials = try CredentialOptions(arguments)
        timeout = try Watch.timeout(arguments)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let credentials = try credentials.credentials(context.signals)
        return try context.withApplication { (application) throws(CommandError) in
            let settings = context.settings(session.of(credentials, for: transfers))
            guard waits else { return try enqueue(application, settings, context) }
            let (session, isConsumer) = try Watch.join { (role) throws(CommandError) in
                try application.create(settings, role: role)
            }
            try ProxyEnvironment.noteDifference(session, application, context)
            let results = try session.enqueue(transfers)
            let pairs = zip(results.map(\.taskID), transfers)
            let enqueued = Dictionary(pairs) { first, _ in first }
            let watch = try Watch(
                context, application, session, isConsumer: isConsumer, scope: .tasks(enqueued), timeout: timeout,
                credentials: credentials)
            return try watch.run()
        }
    }

    private func enqueue(
        _ application: Application, _ settings: SessionSettings, _ context: Context
    ) throws(CommandError) -> ExitCode {
        let session = try application.create(settings, role: .produce)
        try ProxyEnvironment.noteDifference(session, application, context)
        let results = try session.enqueue(transfers)
        try context.output.result(
            lines: zip(transfers, results).map { transfer, result in
                context.output.isJSON
                    ? result.json(transfer).text
                    : "\(result.taskID)\t" + Text.visible(transfer.url)
            })
        context.output.note("\(Text.count(results.count, "transfer")) enqueued: `\(context.waitCommand)` follows.")
        return .done
    }

    /// The URL for a file. If the URL ends in '/', the file's name is added, as in curl.
    private static func url(_ url: String, _ file: String) throws(CommandError) -> String {
        guard url.hasSuffix("/") else { return url }
        guard let name = file.split(separator: "/").last, name != ".", name != ".." else {
            throw .usage("'\(file)' is not the name of a file")
        }
        return url + encoded(String(name))
    }

    /// Percent-encodes all bytes except the unreserved characters (RFC 3986, section 2.3).
    private static func encoded(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            text +=
                isPlain || "-._~".unicodeScalars.contains(scalar)
                ? String(scalar) : "%" + Text.hexadecimal(UInt32(byte), digits: 2).uppercased()
        }
        return text
    }
}
