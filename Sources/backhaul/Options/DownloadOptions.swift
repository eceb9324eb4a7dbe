import Backhaul

/// The options that `get` and `add` share, and the transfers that result from them.
struct DownloadOptions {
    static let descriptions =
        [
            OptionDescription("output", "o", "FILE", "the file to create; only with one URL"),
            OptionDescription("directory", "d", "DIRECTORY", "the directory for the files (the current one)"),
            OptionDescription("input", "i", "FILE", "read more URLs from FILE, one a line; '-' is standard input"),
            OptionDescription(
                "remote-header-name", "J", nil, "use the file name that the server sends"),
            OptionDescription(
                "if-exists", nil, "fail|replace|skip",
                "what to do if the file exists (fail); skip: keep it if its --checksum and --size match"),
            OptionDescription(
                "skip-existing", nil, nil, "skip files that exist, without any check, and fetch the others"),
            OptionDescription(
                "if-changed", "z", nil,
                "fetch only if the file has changed since this session fetched it to the same path"),
            OptionDescription("checksum", nil, "sha-256:HEX", "the checksum of the file; or sha-512:HEX"),
            OptionDescription("size", nil, "BYTES", "the size of the file"),
            OptionDescription("ignore-digests", nil, nil, "do not verify the server's Repr-Digest and Content-Digest"),
        ] + RequestOptions.descriptions + BodyOptions.descriptions + Setting.options(Setting.transferSettings)

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

    let transfers: [Transfer]
    /// The invalid lines of the lists, with their positions and what is wrong.
    let invalidLines: [String]
    private let skipsExisting: Bool
    let session: SettingOptions

    /// - Parameter urls: The URLs. Nil means that the operands are the URLs.
    init(_ arguments: Arguments, urls given: [String]? = nil, startsSuspended: Bool = false) throws(CommandError) {
        let listed = try DownloadOptions.listed(arguments)
        let (valid, invalid) = (listed.filter { $0.problem == nil }, listed.filter { $0.problem != nil })
        invalidLines = invalid.map { "\($0.place): \(URLArgument($0.text).redacted): \($0.problem ?? "")" }
        let urls = (given ?? arguments.operands) + valid.map(\.text)
        guard !urls.isEmpty else {
            throw .usage(invalidLines.first ?? "there is no URL; give one as an argument or with --input")
        }
        let places = Array(repeating: nil, count: urls.count - valid.count) + valid.map { $0.place }
        let destinations = try DownloadOptions.destinations(arguments, urls)
        let checksum =
            try arguments.value("checksum").map { text throws(CommandError) in try DownloadOptions.checksum(text) }
        let size = try arguments.bytes("size") ?? nil
        if urls.count > 1 && (checksum != nil || size != nil) {
            throw .usage("--checksum and --size describe one file, but there are \(urls.count) URLs")
        }
        let ifExists = try DownloadOptions.ifExists(arguments)
        if arguments.has("remote-header-name") && (arguments.has("if-changed") || ifExists == .skip) {
            throw .usage(
                "--remote-header-name cannot be used with --if-changed or --if-exists skip, because the server names "
                    + "the file too late to check it; name it with --output")
        }
        skipsExisting = arguments.has("skip-existing")
        if skipsExisting, let other = ["if-exists", "if-changed", "remote-header-name"].first(where: arguments.has) {
            throw .usage("--skip-existing and --\(other) exclude each other")
        }
        let request = try RequestOptions(arguments)
        let body = try BodyOptions(arguments)
        try body.checkSource()
        transfers = urls.indices.map { index in
            let (url, destination) = (urls[index], destinations[index])
            var request = request.request(url, destination: destination)
            request.body = body.body
            request.ifExists = ifExists
            request.checksum = checksum
            request.expectedSize = size
            request.isOnlyIfChanged = arguments.has("if-changed")
            request.isNamedByServer = arguments.has("remote-header-name")
            request.ignoresDigests = arguments.has("ignore-digests")
            request.startsSuspended = startsSuspended
            return Transfer(request: request, place: places[index])
        }
        session = try SettingOptions.ofVariant(arguments)
    }

    /// The transfers to enqueue. With `--skip-existing`, a transfer is left out if its file exists. There is one
    /// exception: if an earlier transfer to this file has not ended, or the event about its success is not
    /// acknowledged, the new transfer is enqueued although the file exists.
    func wanted(_ session: Session, _ output: Output) throws(CommandError) -> [Transfer] {
        guard skipsExisting else { return transfers }
        let isThere = transfers.map { $0.destination.map(Paths.exists) ?? false }
        guard isThere.contains(true) else { return transfers }
        let unread = try DownloadList.unread(session)
        var wanted: [Transfer] = []
        for (transfer, isThere) in zip(transfers, isThere) {
            if !isThere || transfer.key.map({ unread[$0] != nil }) == true {
                wanted.append(transfer)
            } else {
                output.note("\(transfer.destination ?? "") exists already, and is skipped.")
            }
        }
        return wanted
    }

    private static func ifExists(_ arguments: Arguments) throws(CommandError) -> ExistsPolicy {
        let given = try arguments.choice("if-exists", ExistsPolicy.self) ?? nil
        guard arguments.has("if-changed") else { return given ?? .fail }
        guard given == nil || given == .replace else {
            throw .usage("--if-changed replaces a changed file; leave out --if-exists")
        }
        return .replace
    }

    private static func destinations(_ arguments: Arguments, _ urls: [String]) throws(CommandError) -> [String] {
        let output = arguments.value("output")
        // The current directory is not asked for if no path depends on it, because it may be removed.
        let isNeeded = output?.hasPrefix("/") != true
        let directory = isNeeded ? try Paths.absolute(arguments.value("directory") ?? ".") : "/"
        if output != nil && urls.count > 1 {
            throw .usage("--output names one file, but there are \(urls.count) URLs; use --directory")
        }
        if output == "-" { throw .usage("files cannot be written to standard output; name one with --output") }
        if arguments.has("remote-header-name") {
            guard output == nil else { throw .usage("--output and --remote-header-name exclude each other") }
            return urls.map { _ in withoutDots(directory) }
        }
        let destinations = urls.map { url in
            let destination =
                if let output {
                    output.hasPrefix("/") ? output : Paths.join(directory, output)
                } else {
                    Paths.join(directory, TransferName.file(of: url))
                }
            return withoutDots(destination)
        }
        try checkNames(destinations, urls)
        return destinations
    }

    /// Checks that different URLs have different files. One URL may be given twice: then both are one transfer.
    private static func checkNames(_ destinations: [String], _ urls: [String]) throws(CommandError) {
        var taken: [String: String] = [:]
        for (destination, url) in zip(destinations, urls) {
            if let other = taken.updateValue(url, forKey: destination), other != url {
                throw .usage(
                    "\(URLArgument(other).redacted) and \(URLArgument(url).redacted) have the same file, "
                        + "\(destination); use one command for each, with --output or --directory")
            }
        }
    }

    /// The path without "." components: "/a/./b" becomes "/a/b". The destination is part of the idempotency key, a text
    /// by which the engine finds an earlier transfer to the same file. So the path of each file must have one spelling.
    /// ".." stays, because only the file system can resolve it.
    private static func withoutDots(_ path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true).filter { $0 != "." }
        return "/" + parts.joined(separator: "/") + (path.hasSuffix("/") && !parts.isEmpty ? "/" : "")
    }

    private static func listed(_ arguments: Arguments) throws(CommandError) -> [InputFile.ListedURL] {
        var listed: [InputFile.ListedURL] = []
        for file in arguments.all("input") { listed += try InputFile.urls(file) }
        return listed
    }

    /// Parses a checksum, which users and other programs write in several forms, such as "sha-256:…" or "SHA256=…". For
    /// digits without a name, the number of digits selects the algorithm.
    private static func checksum(_ text: String) throws(CommandError) -> Checksum {
        let lower = text.lowercased()
        for (name, digits, checksum) in [("sha-256", 64, Checksum.sha256), ("sha-512", 128, Checksum.sha512)] {
            if lower.utf8.count == digits && lower.allSatisfy(\.isHexDigit) { return checksum(lower) }
            for prefix in [name, name.replacing("-", with: "")] {
                for separator in [":", "="] where lower.hasPrefix(prefix + separator) {
                    let digest = lower.dropFirst(prefix.count + 1)
                    guard digest.utf8.count == digits, digest.allSatisfy(\.isHexDigit) else {
                        throw .usage("--checksum of \(name) takes \(digits) hexadecimal digits")
                    }
                    return checksum(String(digest))
                }
            }
        }
        throw .usage("--checksum takes sha-256: and 64 hexadecimal digits, or sha-512: and 128")
    }
}
