import Testing

/// A function that takes bytes from outside of the process, with properties that hold for any bytes.
struct FuzzTarget: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether the kept inputs are tests. If not, only `make soak` runs them: the target starts engines and threads.
    var isTest = true
    /// Parses the bytes. Throws a `Violation` if a property does not hold.
    let run: @Sendable ([UInt8]) throws -> Void

    var testDescription: String { name }

    /// All targets. docs/internals/fuzzing.md describes them, and `corpus` has a file with inputs for each.
    static let all = [
        // From servers.
        FuzzTarget(name: "head", run: Heads.check),
        FuzzTarget(name: "content-length", run: ResponseFields.contentLength),
        FuzzTarget(name: "content-range", run: ResponseFields.contentRange),
        FuzzTarget(name: "file-name", run: ResponseFields.fileName),
        FuzzTarget(name: "retry-after", run: ResponseFields.retryAfter),
        FuzzTarget(name: "digest", run: ResponseFields.digest),
        FuzzTarget(name: "challenge", run: ResponseFields.challenge),
        FuzzTarget(name: "location", run: ResponseFields.location),
        FuzzTarget(name: "cookies", run: ResponseFields.cookies),
        FuzzTarget(name: "s3-document", run: ObjectStores.document),
        FuzzTarget(name: "s3-credentials", run: ObjectStores.credentials),
        FuzzTarget(name: "upload-response", run: Uploads.responses),
        FuzzTarget(name: "downloads", run: Downloads.download),
        FuzzTarget(name: "redaction", run: Redactions.redact),
        FuzzTarget(name: "dependency-value", run: ChainValues.take),
        // From clients of the engine's socket and of the metrics, from the engine, and from a damaged store or fleet.
        FuzzTarget(name: "wire-client", run: Wires.client),
        FuzzTarget(name: "wire-engine", run: Wires.engine),
        FuzzTarget(name: "scrape", run: Scrapes.request),
        FuzzTarget(name: "stored-reply", run: Wires.storedReply),
        FuzzTarget(name: "fleet-value", run: Wires.fleetValue),
        FuzzTarget(name: "store-blob", run: Rows.blob),
        FuzzTarget(name: "store-rows", run: Rows.check),
        FuzzTarget(name: "part-journal", run: Journals.parts),
        // From files and arguments of the user.
        FuzzTarget(name: "quiet-hours", run: UserTexts.quietHours),
        FuzzTarget(name: "status-list", run: UserTexts.statusList),
        FuzzTarget(name: "input-list", run: UserTexts.inputList),
        FuzzTarget(name: "json", run: UserTexts.json),
        FuzzTarget(name: "checksums", run: UserTexts.checksums),
        FuzzTarget(name: "netrc", run: UserTexts.netrc),
        FuzzTarget(name: "aws-profiles", run: UserTexts.awsProfiles),
        FuzzTarget(name: "configuration", run: UserTexts.configuration),
        FuzzTarget(name: "proxy", run: Proxies.check),
        // From the system.
        FuzzTarget(name: "device-event", run: SystemMessages.deviceEvent),
        FuzzTarget(name: "mounts", run: SystemMessages.mounts),
        FuzzTarget(name: "bus-reply", run: SystemMessages.busReply),
        FuzzTarget(name: "bus-address", run: SystemMessages.busAddress),
        // From the host.
        FuzzTarget(name: "calls", isTest: false, run: Calls.check),
    ]
}
