import Backhaul

/// The options for the times at which transfers may start, and for the number of bytes that they will probably move.
struct StartOptions {
    static let descriptions = [
        OptionDescription(
            "earliest-start", nil, "TIME",
            "do not start before: 06:30 (the next one), +2h, 2026-11-21T06:30 (local time), or with Z or +01:00"),
        OptionDescription(
            "latest-start", nil, "TIME",
            "from this time on ignore presets (--discretionary, --overnight), also those of the session"),
        OptionDescription(
            "expected-bytes-received", nil, "BYTES", "wait while a budget has less than this left"),
        OptionDescription("expected-bytes-sent", nil, "BYTES", "the same for sent bytes"),
    ].map { $0.section(.start) }

    private let earliest: Int64?
    private let latest: Int64?
    private let received: UInt64?
    private let sent: UInt64?

    init(_ arguments: Arguments) throws(CommandError) {
        earliest = try arguments.time("earliest-start")
        latest = try arguments.time("latest-start", after: earliest)
        received = try arguments.bytes("expected-bytes-received") ?? nil
        sent = try arguments.bytes("expected-bytes-sent") ?? nil
        if let earliest, let latest, latest < earliest {
            throw .usage(
                "--latest-start, \(Text.dateAndTime(latest)), is before "
                    + "--earliest-start, \(Text.dateAndTime(earliest))")
        }
    }

    func change(_ request: inout Request) {
        request.earliestStartMilliseconds = earliest
        request.latestStartMilliseconds = latest
        request.expectedBytesReceived = received
        request.expectedBytesSent = sent
    }
}
