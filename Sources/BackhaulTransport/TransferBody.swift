/// The source of a request's body, which is read on demand. It is confined to the loop's thread, and must not block it.
public protocol TransferBody: AnyObject {
    /// The size in bytes, sent as Content-Length. Exactly this number of bytes is read.
    var size: UInt64 { get }
    /// Puts the next bytes at the start of `room`, which has space for at least one byte. Returns `.wait` if no bytes
    /// are available yet. The source then calls `Transfer.resumeSending` when it has some.
    func read(into room: inout MutableRawSpan) -> BodyRead
    /// Starts again at the first byte. The transport sends the body again after a redirect or a lost connection.
    func rewind()
}

public enum BodyRead: Equatable, Sendable {
    /// The number of bytes that were read, at least 1.
    case bytes(Int)
    case wait
}

/// Whether a request has `Expect: 100-continue` and waits for the server's consent before the body (RFC 9110, section
/// 10.1.1). This costs a round trip, or 1 s if the server does not support it. It saves the body if the server refuses.
public enum Expectation: Sendable {
    /// Used for bodies of more than 1 MiB over HTTP/1.1.
    case whenLarge
    case always
    case never
}
