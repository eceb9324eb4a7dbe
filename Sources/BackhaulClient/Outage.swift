internal import BackhaulPlatform

/// The time after a client has lost its engine and can use no other one. During this time, the client searches after
/// growing pauses, and for each command. An engine that serves the client for five seconds ends the outage. After a
/// shorter run, the pauses continue to grow, because the next engine probably ends in the same way.
struct Outage: Sendable {
    private static let stableMilliseconds: Int64 = 5_000
    private static let firstPauseMilliseconds: Int64 = 5_000
    private static let longestPauseMilliseconds: Int64 = 60_000

    /// Whether no poll of the application has got the failure yet.
    var isNews = true
    private(set) var pauseMilliseconds: Int64 = 0
    /// When the last connection to an engine exists for long enough to end the outage; nil if there was none.
    private var stableDeadline: Deadline?

    /// Returns the end of the next pause.
    mutating func nextRetry() -> Deadline {
        pauseMilliseconds =
            pauseMilliseconds == 0
            ? Self.firstPauseMilliseconds : min(pauseMilliseconds * 2, Self.longestPauseMilliseconds)
        return .after(milliseconds: pauseMilliseconds)
    }

    mutating func connected() { stableDeadline = .after(milliseconds: Self.stableMilliseconds) }

    /// Whether the last connection has existed for long enough to end the outage, if it ends now.
    var isOver: Bool { stableDeadline?.hasPassed ?? false }
}

/// What makes the event descriptors of an application and its sessions readable, besides finished tickets.
enum DescriptorCause {
    /// New events.
    case events
    /// The failure, until the host has got it. Events do not count, because a poll could not return them.
    case failure
    /// Nothing, because the client searches for an engine after a failure, and a poll would have no result yet.
    case nothing
}
