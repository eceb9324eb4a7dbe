/// The reasons for which a transfer sends its request again over a new connection, within one attempt. Each reason
/// allows one repetition.
struct RepeatReasons: OptionSet {
    let rawValue: Int

    /// libcurl 7.88.1 reports a header line of more than 100 KiB as a lack of memory. A second request shows whether
    /// memory was really short: then it may succeed.
    static let lackOfMemory = RepeatReasons(rawValue: 1)
    /// The response had status 421. Another connection may reach the right server (RFC 9110, section 15.5.20).
    static let misdirected = RepeatReasons(rawValue: 2)
    /// A reused connection brought bytes that are not HTTP. They may be the late rest of an earlier response (RFC 9112,
    /// section 6.3).
    static let brokenResponse = RepeatReasons(rawValue: 4)
}
