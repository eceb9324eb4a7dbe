import Backhaul

/// The options that `get` and `add` share, and the transfers that result from them.
struct DownloadOptions {
    static let descriptions =
        DestinationOptions.descriptions + [
            OptionDescription(
                "input", "i", "FILE", "read more URLs from FILE, one a line or as JSON; '-' is standard input"),
            OptionDescription(
                "if-exists", nil, "fail|replace|skip",
                "what to do if the file exists (fail); skip: keep it if its --checksum and --size match"),
            OptionDescription(
                "skip-existing", nil, nil, "skip files that exist, without any check, and fetch the others"),
            OptionDescription(
                "if-changed", "z", nil,
                "fetch only if the file has changed since this session fetched it to the same path"),
            OptionDescription("checksum", nil, "sha-256:HEX", "the checksum of the file; or sha-512:HEX"),
            OptionDescription(
                "checksums", nil, "FILE|URL", "verify each file with its line of a list such as SHA256SUMS"),
            OptionDescription("size", nil, "BYTES", "the size of the file"),
            OptionDescription("ignore-digests", nil, nil, "do not verify the server's Repr-Digest and Content-Digest"),
        ] + CurlOptions.downloadDescriptions + RequestOptions.descriptions + BodyOptions.descriptions
        + Setting.options(Setting.transferSettings)

    /// The options with which the help begins.
    static let main = [
        "output", "directory", "input", "remote-header-name", "if-exists", "skip-existing", "if-changed", "checksum",
        "header", "limit-rate",
    ]

    static let naming = """
        Without --output, the last part of the URL's path names the file, which is always directly in the chosen
        directory. If the path has no last part, the name is index.html. The same command again finds the transfers
        that it enqueued before.
        """

    private(set) var transfers: [Transfer]
    /// The invalid lines of the lists, with their positions and what is wrong.
    private var invalidLines: [String] = []
    private var notes: [String] = []
    private let destinations: DestinationOptions
    private let skipsExisting: Bool
    /// The URL of `--checksums`. Nil for a file, which is read at once.
    private let checksumsURL: String?
    let session: SettingOptions

    /// Whether a line of a list is not enqueued.
    var hasInvalidLine: Bool { !invalidLines.isEmpty }

    /// - Parameter urls: The URLs. Nil means that the operands are the URLs.
    init(_ arguments: Arguments, urls given: [String]? = nil, startsSuspended: Bool = false) throws(CommandError) {
        try CurlOptions.check(arguments)
        var items = (given ?? arguments.operands).map { DownloadItem(url: $0) }
        for file in arguments.all("input") {
            let list = try InputList(file)
            items += list.items
            invalidLines += list.problems
            notes += list.notes
        }
        guard !items.isEmpty else {
            throw .usage(invalidLines.first ?? DownloadOptions.missingURL(arguments))
        }
        destinations = try DestinationOptions(arguments)
        let paths = try destinations.paths(of: items)
        let checksum = try arguments.value("checksum").map { text throws(CommandError) in
            try Checksum(text, option: "--checksum")
        }
        let size = try arguments.bytes("size") ?? nil
        if items.count > 1 && (checksum != nil || size != nil) {
            throw .usage("--checksum and --size describe one file, but there are \(items.count) URLs")
        }
        let ifExists = try DownloadOptions.ifExists(arguments)
        skipsExisting = arguments.has("skip-existing")
        try DownloadOptions.checkNaming(arguments, ifExists)
        let request = try RequestOptions(arguments)
        let body = try BodyOptions(arguments)
        try body.checkSource()
        transfers = zip(items, paths).map { item, path in
            var request = request.request(item.url, destination: path)
            request.headers.removeAll { header in item.headers.contains { $0.hasName(of: header) } }
            request.headers += item.headers
            request.body = body.body
            request.ifExists = ifExists
            request.checksum = item.checksum ?? checksum
            request.expectedSize = item.size ?? size
            request.isOnlyIfChanged = arguments.has("if-changed")
            request.isNamedByServer = arguments.has("remote-header-name")
            request.ignoresDigests = arguments.has("ignore-digests")
            request.startsSuspended = startsSuspended
            return Transfer(request: request, place: item.place, hasOwnOptions: !item.headers.isEmpty)
        }
        session = try SettingOptions.ofVariant(arguments)
        let list = arguments.value("checksums")
        if list != nil && checksum != nil { throw .usage("--checksum and --checksums exclude each other") }
        checksumsURL = list?.contains("://") == true ? list : nil
        if let list, checksumsURL == nil {
            try addChecksums(ChecksumList(InputFile.content(list), name: InputFile.name(list)))
        }
    }

    /// In wget, -r takes no value.
    private static func missingURL(_ arguments: Arguments) -> String {
        guard let range = arguments.value("range"), range.firstRange(of: "://") != nil else {
            return "there is no URL; give one as an argument or with --input"
        }
        return "there is no URL, because --range has taken '\(range)' as its value; --range takes FIRST-LAST, such as "
            + "0-499, and several files are downloaded with several URLs or --input FILE"
    }

    private static func checkNaming(_ arguments: Arguments, _ ifExists: ExistsPolicy) throws(CommandError) {
        if arguments.has("remote-header-name") && (arguments.has("if-changed") || ifExists == .skip) {
            throw .usage(
                "--remote-header-name cannot be used with --if-changed or --if-exists skip, because the server names "
                    + "the file too late to check it; name it with --output")
        }
        guard arguments.has("skip-existing") else { return }
        if let other = ["if-exists", "if-changed", "remote-header-name"].first(where: arguments.has) {
            throw .usage("--skip-existing and --\(other) exclude each other")
        }
    }

    /// Gives each download its checksum in the list. Without a checksum, a download of a list is invalid, and any other
    /// one refuses the command.
    private mutating func addChecksums(_ list: ChecksumList) throws(CommandError) {
        var verified: [Transfer] = []
        for var transfer in transfers {
            do throws(CommandError) {
                if transfer.request.checksum == nil {
                    let file = transfer.request.isNamedByServer ? nil : transfer.destination?.split(separator: "/").last
                    transfer.request.checksum = try list.checksum(of: transfer.url, file: file.map(String.init))
                }
                verified.append(transfer)
            } catch {
                guard let place = transfer.place, case .usage(let problem) = error else { throw error }
                invalidLines.append("\(place): \(problem)")
            }
        }
        if verified.isEmpty { throw .usage(invalidLines.first ?? "") }
        transfers = verified
    }

    /// Prepares the enqueue: fetches the list of checksums, reports what is wrong with lists of URLs, and creates the
    /// missing directories.
    mutating func prepare(_ application: Application, _ context: Context) throws(CommandError) {
        if let checksumsURL {
            try addChecksums(ChecksumFetch(checksumsURL, session).list(application, context))
        }
        for note in notes { context.output.note(note) }
        for line in invalidLines { context.output.error(BackhaulError(.usage, line)) }
        try destinations.makeDirectories(for: transfers)
    }

    /// The transfers to enqueue. With `--skip-existing`, a transfer is skipped if its file exists. There is one
    /// exception: if an earlier transfer to this file has not ended, or the event about its success is not
    /// acknowledged, the new transfer is enqueued although the file exists.
    func wanted(
        _ session: Session, _ output: Output
    ) throws(CommandError) -> (wanted: [Transfer], skipped: [Transfer]) {
        guard skipsExisting else { return (transfers, []) }
        let isThere = transfers.map { $0.destination.map(Paths.exists) ?? false }
        guard isThere.contains(true) else { return (transfers, []) }
        let unread = try DownloadList.unread(session)
        var (wanted, skipped): ([Transfer], [Transfer]) = ([], [])
        for (transfer, isThere) in zip(transfers, isThere) {
            if !isThere || transfer.key.map({ unread[$0] != nil }) == true {
                wanted.append(transfer)
            } else {
                skipped.append(transfer)
                output.note("\(transfer.destination ?? "") exists already, and is skipped.")
            }
        }
        return (wanted, skipped)
    }

    private static func ifExists(_ arguments: Arguments) throws(CommandError) -> ExistsPolicy {
        let given = try arguments.choice("if-exists", ExistsPolicy.self) ?? nil
        guard arguments.has("if-changed") else { return given ?? .fail }
        guard given == nil || given == .replace else {
            throw .usage("--if-changed replaces a changed file; leave out --if-exists")
        }
        return .replace
    }
}

extension Header {
    fileprivate func hasName(of other: Header) -> Bool { name.lowercased() == other.name.lowercased() }
}
