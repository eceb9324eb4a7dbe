import CBackhaul

/// The options that `get` and `add` share, and the transfers that they describe.
struct DownloadOptions {
    static let descriptions =
        [
            OptionDescription("output", "o", "FILE", "the file to make; with one URL only"),
            OptionDescription("directory", "d", "DIRECTORY", "where files are made (here)"),
            OptionDescription("input", "i", "FILE", "read more URLs from FILE, one a line; '-' is standard input"),
            OptionDescription(
                "remote-header-name", "J", nil, "name the file in the directory as the server does"),
            OptionDescription(
                "if-exists", nil, "fail|replace|skip",
                "what to do when the file is there (fail); skip, when its --checksum and --size are right"),
            OptionDescription(
                "skip-existing", nil, nil, "leave out what is there already, whatever it is, and go on with the rest"),
            OptionDescription(
                "if-changed", "z", nil, "fetch again only what has changed since this session fetched it to that file"),
            OptionDescription("checksum", nil, "sha-256:HEX", "or sha-512:HEX, that the file must have"),
            OptionDescription("size", nil, "BYTES", "that the file must have"),
            OptionDescription("ignore-digests", nil, nil, "do not verify the server's Repr-Digest and Content-Digest"),
        ] + RequestOptions.descriptions + BodyOptions.descriptions + PolicyOptions.descriptions

    static let naming = """
        Without --output a file gets the name of the last part of its URL's path, in the chosen directory and never
        elsewhere; without one it is index.html. The same command again finds what it handed over before.
        """

    let transfers: [Transfer]
    private let skipsExisting: Bool
    private let session: SessionOptions

    /// - Parameter urls: Nil: the operands.
    init(_ arguments: Arguments, urls given: [String]? = nil, startsSuspended: Bool = false) throws(CommandError) {
        var urls = given ?? arguments.operands
        for file in arguments.all("input") { urls += try DownloadOptions.readURLs(file) }
        guard !urls.isEmpty else { throw .usage("There is no URL.") }
        let destinations = try DownloadOptions.destinations(arguments, urls)
        let checksum =
            try arguments.value("checksum").map { text throws(CommandError) in try Checksum.normalized(text) }
        let size = try arguments.bytes("size")
        if urls.count > 1 && (checksum != nil || size != nil) {
            throw .usage("--checksum and --size are of one file, but there are \(urls.count) URLs.")
        }
        let ifExists = try DownloadOptions.ifExists(arguments)
        if arguments.has("remote-header-name") && (arguments.has("if-changed") || ifExists == BH_IF_EXISTS_SKIP) {
            throw .usage(
                "--remote-header-name goes neither with --if-changed nor with --if-exists skip: the server names the "
                    + "file too late to look at it; name it with --output.")
        }
        skipsExisting = arguments.has("skip-existing")
        if skipsExisting, let other = ["if-exists", "if-changed", "remote-header-name"].first(where: arguments.has) {
            throw .usage("--skip-existing and --\(other) exclude each other.")
        }
        let request = try RequestOptions(arguments)
        let body = try BodyOptions(arguments)
        var transfers: [Transfer] = []
        for (url, destination) in zip(urls, destinations) {
            var transfer = request.transfer(url, destination: destination)
            transfer.body = body.given
            transfer.bodySource = body.source
            transfer.ifExists = ifExists
            transfer.checksum = checksum
            transfer.expectedSize = size ?? 0
            transfer.isOnlyIfChanged = arguments.has("if-changed")
            transfer.isNamedByServer = arguments.has("remote-header-name")
            transfer.ignoresDigests = arguments.has("ignore-digests")
            transfer.startsSuspended = startsSuspended
            transfers.append(transfer)
        }
        self.transfers = transfers
        session = try SessionOptions(arguments)
    }

    /// With --skip-existing, those whose file is not there, or whose end is still to be read.
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
                output.note("\(transfer.destination ?? "") is there already, and is left alone.")
            }
        }
        return wanted
    }

    func settings(_ identifier: String) -> SessionSettings { SessionSettings(identifier: identifier, options: session) }

    private static func ifExists(_ arguments: Arguments) throws(CommandError) -> Int {
        let words = [("fail", BH_IF_EXISTS_FAIL), ("replace", BH_IF_EXISTS_REPLACE), ("skip", BH_IF_EXISTS_SKIP)]
        let given = try arguments.choice("if-exists", words).map { Int($0) }
        guard arguments.has("if-changed") else { return given ?? BH_IF_EXISTS_FAIL }
        guard given == nil || given == BH_IF_EXISTS_REPLACE else {
            throw .usage("--if-changed replaces the file; leave out --if-exists.")
        }
        return BH_IF_EXISTS_REPLACE
    }

    private static func destinations(_ arguments: Arguments, _ urls: [String]) throws(CommandError) -> [String] {
        let directory = try Paths.absolute(arguments.value("directory") ?? ".")
        let output = arguments.value("output")
        if output != nil && urls.count > 1 {
            throw .usage("--output names one file, but there are \(urls.count) URLs; use --directory.")
        }
        if output == "-" { throw .usage("Files cannot be written to standard output; name one with --output.") }
        if arguments.has("remote-header-name") {
            guard output == nil else { throw .usage("--output and --remote-header-name exclude each other.") }
            return urls.map { _ in withoutDots(directory) }
        }
        return urls.map { url in
            let destination = if let output {
                output.hasPrefix("/") ? output : Paths.join(directory, output)
            } else {
                Paths.join(directory, FileName.from(url: url))
            }
            return withoutDots(destination)
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

/// Digests as people and tools write them.
enum Checksum {
    /// "sha-256:…" of "sha256:…", "SHA256=…" or of as many digits as only one algorithm has.
    static func normalized(_ text: String) throws(CommandError) -> String {
        let lower = text.lowercased()
        for (name, digits) in [("sha-256", 64), ("sha-512", 128)] {
            if lower.utf8.count == digits && lower.allSatisfy(\.isHexDigit) { return name + ":" + lower }
            for prefix in [name, name.replacing("-", with: "")] {
                for separator in [":", "="] where lower.hasPrefix(prefix + separator) {
                    let digest = lower.dropFirst(prefix.count + 1)
                    guard digest.utf8.count == digits, digest.allSatisfy(\.isHexDigit) else {
                        throw .usage("--checksum of \(name) takes \(digits) hexadecimal digits.")
                    }
                    return name + ":" + digest
                }
            }
        }
        throw .usage("--checksum takes sha-256: and 64, or sha-512: and 128 hexadecimal digits.")
    }
}
