import Backhaul

/// The options that give the paths of downloaded files.
struct DestinationOptions {
    static let descriptions = [
        OptionDescription(
            "output", "o", "FILE",
            "the file to create; may be repeated, once for each URL. {host}, {path}, {name} and {number} in it stand "
                + "for parts of the URL"),
        OptionDescription("directory", "d", "DIRECTORY", "the directory for the files (the current one)"),
        OptionDescription("create-dirs", nil, nil, "create missing directories of the files"),
        OptionDescription("remote-header-name", "J", nil, "use the file name that the server sends"),
    ]

    private let outputs: [OutputTemplate]
    private let directory: String?
    private let createsDirectories: Bool
    let isNamedByServer: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        var outputs: [OutputTemplate] = []
        for text in arguments.all("output") {
            if text == "-" { throw .usage("files cannot be written to standard output; name one with --output") }
            if text.isEmpty { throw .usage("--output is empty; give the path of a file") }
            outputs.append(try OutputTemplate(text, option: "--output"))
        }
        self.outputs = outputs
        directory = arguments.value("directory")
        if let directory, directory.contains("=") || directory.hasPrefix("@"), !Paths.exists(directory) {
            throw .usage("--directory (-d) names a directory here, not '\(directory)'; --data-binary DATA sends data")
        }
        createsDirectories = arguments.has("create-dirs")
        isNamedByServer = arguments.has("remote-header-name")
        if isNamedByServer && !outputs.isEmpty { throw .usage("--output and --remote-header-name exclude each other") }
    }

    /// The absolute path for each URL: the path of its file, or of its directory if the server names the file.
    func paths(of items: [DownloadItem]) throws(CommandError) -> [String] {
        let arguments = items.count { $0.place == nil }
        let isEach = outputs.count == arguments && items.allSatisfy { $0.place == nil || $0.output != nil }
        guard outputs.isEmpty || isEach || outputs.count == 1 && outputs[0].hasWords else {
            throw .usage(
                outputs.count == 1
                    ? "--output names one file, but there are \(items.count) URLs; use --directory, give one --output "
                        + "for each URL, or write {name} in it"
                    : "there are \(outputs.count) --output, but \(items.count) URLs; give one for each URL, in order"
            )
        }
        var paths: [String] = []
        for (index, item) in items.enumerated() {
            let given = outputs.count == 1 ? outputs[0] : outputs.indices.contains(index) ? outputs[index] : nil
            paths.append(DestinationOptions.withoutDots(try path(of: item, item.output ?? given, number: index + 1)))
        }
        if !isNamedByServer { try DestinationOptions.checkNames(paths, items) }
        return paths
    }

    private func path(of item: DownloadItem, _ output: OutputTemplate?, number: Int) throws(CommandError) -> String {
        if isNamedByServer {
            if item.output != nil {
                throw .usage("\(item.place ?? ""): its name and --remote-header-name exclude each other")
            }
            return try Paths.absolute(item.directory ?? directory ?? ".")
        }
        let file = output.map { $0.path(of: item.url, number: number) } ?? TransferName.file(of: item.url)
        guard let file else {
            let place = item.place.map { $0 + ": " } ?? ""
            throw .usage("\(place)--output gives no name for \(URLArgument(item.url).redacted); add {name} to it")
        }
        // The current directory is not asked for if no path depends on it, because it may be removed.
        return file.hasPrefix("/") ? file : Paths.join(try Paths.absolute(item.directory ?? directory ?? "."), file)
    }

    /// With `--create-dirs`, makes the directories of these files. The engine syncs each file and its name, but not the
    /// directories above. A parent of many new directories is synced once.
    func makeDirectories(for transfers: [Transfer]) throws(CommandError) {
        guard createsDirectories else { return }
        var changed: Set<String> = []
        for path in Set(transfers.compactMap(\.destination)) {
            let directory = isNamedByServer ? path : Paths.directory(of: path)
            changed.formUnion(try Paths.makeDirectories(directory, mode: 0o777, .refused))
        }
        changed.forEach(Paths.sync)
    }

    /// Checks that different URLs have different files. One URL may be given twice: then both are one transfer.
    private static func checkNames(_ paths: [String], _ items: [DownloadItem]) throws(CommandError) {
        var taken: [String: String] = [:]
        for (path, item) in zip(paths, items) {
            if let other = taken.updateValue(item.url, forKey: path), other != item.url {
                throw .usage(
                    "\(URLArgument(other).redacted) and \(URLArgument(item.url).redacted) have the same file, \(path); "
                        + "give each a name with --output, or write {host}, {path} or {number} in it")
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
}
