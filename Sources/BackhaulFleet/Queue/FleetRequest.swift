internal import BackhaulEngine
internal import BackhaulModel

/// A request that a host gives to a fleet, checked. Some options have no meaning on another machine, or are not
/// supported by fleets. Such a request is refused.
struct FleetRequest {
    let request: Request
    let destination: String
    let origin: String
    /// Whether there is a file at the destination, which the request does not replace. It may be the file of this
    /// request, if the host repeats the request.
    let wouldReplace: Bool
    /// Whether the destination has no directory. Then only a task that exists already is returned.
    let lacksDirectory: Bool

    init(_ given: Request, in configuration: SessionConfiguration) throws(Failure) {
        var intake = RequestIntake()
        origin = try intake.check(given, in: configuration).text
        try RequestCheck.check(given, in: configuration)
        destination = try Self.destination(of: given)
        wouldReplace = given.destination?.fileExists == true && given.ifExists == .fail
        lacksDirectory = given.destination?.isDirectoryAbsent == true
        var request = given
        request.destination = Destination(path: destination, directoryDevice: 0, directoryInode: 0)
        self.request = request
    }

    /// The name of the origin of a URL in the database.
    static func origin(of url: String) throws(Failure) -> String {
        var intake = RequestIntake()
        return try intake.check(Request(url: url)).text
    }

    /// The path of the request's destination. Throws if a fleet does not perform the request. A worker checks what it
    /// claims again, because a host can store a request without this library.
    static func destination(of request: Request) throws(Failure) -> String {
        if let refusal = refusal(of: request) ?? FleetConfiguration.refusal(of: request.options.policy) {
            throw Failure(.invalidArgument, refusal)
        }
        guard let destination = request.destination else {
            throw Failure(
                .invalidArgument,
                "a store in PostgreSQL keeps no files; give the download a destination that all workers can reach")
        }
        try RequestCheck.check(destination)
        return destination.path
    }

    private static func refusal(of request: Request) -> String? {
        let options = request.options
        if options.body != nil { return "workers of a fleet only download; send the upload with a local store" }
        if options.isNamedByServer || request.destination?.path.utf8.last == UInt8(ascii: "/") {
            return "a fleet needs the path of the file; the server cannot choose its name"
        }
        if request.ifExists == .skip { return "a fleet cannot skip existing files; let them be replaced, or fail" }
        if options.isOnlyIfChanged { return "a fleet does not know which representation a file has; remove if-changed" }
        if options.group != nil { return "a fleet has no groups; remove the group from the request" }
        if !options.dependencies.isEmpty { return "a fleet has no dependencies; enqueue the request after the others" }
        if options.refresh != .none { return "a fleet asks for no new headers or URLs; remove the refresh option" }
        return nil
    }

    /// Whether an earlier request with the same key requested the same transfer.
    static func isSame(_ request: Request, _ earlier: Request) -> Bool {
        request.url == earlier.url && request.destination?.path == earlier.destination?.path
    }
}
