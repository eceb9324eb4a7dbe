/// Why a transfer sends its request once more over a new connection, within one attempt. Each reason counts once.
struct RepeatReasons: OptionSet {
    let rawValue: Int

    /// libcurl 7.88.1 reports a header line of more than 100 KiB as a lack of memory. One more request tells a lack
    /// that has passed from such a line.
    static let lackOfMemory = RepeatReasons(rawValue: 1)
    /// The response had status 421: another connection may lead to the right server (RFC 9110, section 15.5.20).
    static let misdirected = RepeatReasons(rawValue: 2)
    /// What came on a used connection is no HTTP. It may be the rest of an earlier response that arrived late
    /// (RFC 9112, section 6.3).
    static let brokenResponse = RepeatReasons(rawValue: 4)
}
