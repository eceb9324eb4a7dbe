internal import CCurl

/// Needed by: libcurl before 8.6.0. Fixed in: 8.6.0 (commit f58e493e44, CURLE_TOO_LARGE).
///
/// libcurl reports a line of the response's head that exceeds its limit of 100 KiB (DYN_HTTP_REQUEST,
/// MAX_HTTP_RESP_HEADER_SIZE) as a lack of memory. The transport repeats such a request one time: if memory was really
/// short, the second request may succeed.
extension FailureReport {
    /// Whether a line of the response's head is too long.
    var hasLongLine: Bool {
        if code == CURLE_OUT_OF_MEMORY { return Workaround.longHeaderLine.isActive && hasBytesOfLongLine }
        return code == CURLcode(rawValue: Self.tooLarge)
    }

    /// Before the request has a connection, only a proxy's response to CONNECT can have a long line.
    private var hasBytesOfLongLine: Bool { receivedBytes.map { $0 >= 100 << 10 } ?? mayBeTunnel }

    /// CURLE_TOO_LARGE, which the headers of older versions lack.
    private static let tooLarge: UInt32 = 100
}

extension Transfer {
    func mayLackMemory(_ result: CURLcode) -> Bool {
        Workaround.longHeaderLine.isActive && result == CURLE_OUT_OF_MEMORY
    }
}
