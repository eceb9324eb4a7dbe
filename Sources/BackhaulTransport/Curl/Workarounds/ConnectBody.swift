/// Needed by: all versions of libcurl. Fixed in: none.
///
/// libcurl drops the body of a proxy's 407 response to CONNECT without a limit, and without returning to the event loop
/// as long as bytes arrive. It makes a progress call for each byte (recv_CONNECT_resp). So the transport counts these
/// calls, and ends the connection when the body is too long.
struct ConnectBody {
    /// The number of bytes that libcurl has dropped; nil if it drops no such body.
    private var dropped: Int?

    mutating func begin() { dropped = 0 }

    mutating func end() { dropped = nil }

    /// Records a progress call. Returns whether the body has exceeded the limit.
    mutating func dropsByte(limit: Int) -> Bool {
        guard let dropped else { return false }
        self.dropped = dropped + 1
        return dropped >= limit
    }
}
