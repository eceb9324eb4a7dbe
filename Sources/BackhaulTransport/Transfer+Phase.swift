extension Transfer {
    /// The progress of the transfer's current hop.
    enum Phase {
        case waitingForHead
        /// The head of a 401 or 407 response is buffered, because libcurl may repeat the request and get another head.
        case holdingHead
        /// The body of a redirect is read and dropped, so that the connection can be reused. The number of dropped
        /// bytes is limited. The reading ends at the time `until` at the latest (milliseconds of the boot clock).
        case redirecting(to: [UInt8], skipped: Int, until: Int64)
        case receiving
        case refused
        /// The transport has found the end of the body. libcurl would wait for the end of the connection.
        case ended
        /// The request is sent again without Expect.
        case repeating
        /// The connection cannot be used for the request, which is sent again over another connection.
        case reconnecting
        case over
    }

    var isOver: Bool { if case .over = phase { true } else { false } }

    var headIsWhole: Bool { if case .waitingForHead = phase { false } else { !isHoldingHead } }

    /// Whether the head of a response has arrived, including a buffered head.
    var hasResponse: Bool { headIsWhole || isHoldingHead }

    var isHoldingHead: Bool { if case .holdingHead = phase { true } else { false } }
}
