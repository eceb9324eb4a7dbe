import BackhaulModel
import Testing

/// The state machine of a download, which handles events and returns actions. Each line of a test passes one event to
/// the state machine, and states the expected actions.
struct DownloadScript {
    private(set) var machine: DownloadMachine

    init(
        from checkpoint: Checkpoint? = nil, intent: FinishIntent? = nil, boot: String = "boot",
        limits: DownloadMachine.BufferLimits = .small, asks: Bool = false, terms: DownloadTerms = DownloadTerms()
    ) {
        var terms = terms
        if asks { terms.opensChallenges = true }
        machine = DownloadMachine(
            checkpoint: checkpoint, intent: intent, bootID: boot, terms: terms, limits: limits)
    }

    mutating func expect(
        _ event: DownloadMachine.Event, _ actions: DownloadMachine.Action...,
        location: SourceLocation = #_sourceLocation
    ) {
        #expect(machine.handle(event) == actions, sourceLocation: location)
    }

    mutating func handle(_ event: DownloadMachine.Event) -> [DownloadMachine.Action] { machine.handle(event) }

    mutating func change<Result>(_ change: (inout DownloadMachine) -> Result) -> Result { change(&machine) }

    /// Handles events and ignores the actions that follow. Other tests check these actions.
    mutating func after(_ events: DownloadMachine.Event...) {
        for event in events { _ = machine.handle(event) }
    }
}

extension DownloadMachine.BufferLimits {
    static var small: Self {
        var limits = Self()
        limits.flush = 100
        limits.outstanding = 400
        limits.firstSync = 1_000
        limits.laterSync = 4_000
        limits.syncTicks = 3
        limits.errorBody = 50
        return limits
    }

    /// The limits of `small`, but with a limit of unwritten bytes that no test reaches.
    static var wide: Self {
        var limits = small
        limits.outstanding = 1_000_000
        return limits
    }
}

extension Checkpoint {
    /// Returns a *checkpoint*: what the database records about a partial file. By default, its ETag is "a".
    static func kept(
        _ synced: UInt64, of size: UInt64? = 1_000, tag: String? = "\"a\"", date: String? = nil, boot: String = "boot"
    ) -> Checkpoint {
        Checkpoint(
            validator: Validator(entityTag: tag, lastModified: date), finalURL: "https://example.org/file", size: size,
            syncedOffset: synced, bootID: boot)
    }
}

extension DownloadTerms {
    static var asking: Self {
        var terms = Self()
        terms.opensChallenges = true
        return terms
    }
}

extension KnownRepresentation {
    /// What the library knows about the file that an earlier task has placed at the destination.
    static let known = KnownRepresentation(
        entityTag: "\"a\"", lastModified: nil, finalURL: "https://example.org/file", size: 1_000)
}

extension FinishIntent {
    static let sealed = FinishIntent(device: 1, inode: 2, size: 1_000)
}

extension Failure {
    static let lost = Failure(.connectionLost, "the connection broke")
    static let refused = Failure(.tlsFailed, "the certificate does not verify")
    static let timedOut = Failure(.resourceTimeout, "the time is over")
    static let full = Failure(.diskFull, "the disk is full")
    static let broken = Failure(.diskFailed, "the disk is broken")
    static let gone = Failure(.destinationUnavailable, "the directory is gone")
    static let away = Failure(.storageAway, "the drive is away")
}

extension DownloadMachine.Conclusion {
    /// The conclusion of an attempt (one run of a download) that is retried. By default, the retry has the usual delay,
    /// and continues after the stored bytes.
    static func again(
        _ failure: Failure, reason: WaitReason = .retry, after seconds: Int64? = nil, fromZero: Bool = false
    ) -> Self {
        .retry(failure, reason: reason, retryAfterSeconds: seconds, fromZero: fromZero)
    }
}

let whole = head(200, "Content-Length: 1000", "ETag: \"a\"")
let wholeOther = head(200, "Content-Length: 800", "ETag: \"b\"")
let endless = head(200, "ETag: \"a\"")
let unvalidated = head(200, "Content-Length: 1000")
let rest = head(206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"")
let challenge = head(401, "WWW-Authenticate: Basic realm=\"staff\"")
