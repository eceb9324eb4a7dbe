/// The reasons for which a transfer has sent its request again over a new connection, in the same attempt. For each of
/// these reasons, the transfer repeats the request at most one time, so it records them here.
struct ResendReasons: OptionSet {
    let rawValue: Int

    /// libcurl has reported a lack of memory (Workarounds/LongHeaderLine.swift).
    static let lackOfMemory = ResendReasons(rawValue: 1)
    /// The response had status 421. Another connection may reach the right server (RFC 9110, section 15.5.20).
    static let misdirected = ResendReasons(rawValue: 2)
    /// Bytes that are not HTTP arrived on a reused connection. They may be the late rest of an earlier response (RFC
    /// 9112, section 6.3).
    static let brokenResponse = ResendReasons(rawValue: 4)
    /// The body of a 401 or 407 response is longer than the transport reads, so its connection cannot be used for the
    /// request with the credential.
    static let longChallenge = ResendReasons(rawValue: 8)
    /// The bucket of S3 is in another region than the request was signed for.
    static let otherRegion = ResendReasons(rawValue: 16)
    /// libcurl could not use the client certificate with its key. They may have been read during a renewal.
    static let unusableCertificate = ResendReasons(rawValue: 32)
}
