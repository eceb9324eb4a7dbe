/// The source of a request's body. The transport reads the body when it can send bytes. All calls are on the thread of
/// the event loop, and must not block this thread.
public protocol TransferBody: AnyObject {
    /// The size in bytes, which is sent as Content-Length. Exactly this number of bytes is read.
    var size: UInt64 { get }
    /// Writes the next bytes to the start of `room`, which has space for at least one byte. Returns `.wait` if no bytes
    /// are available yet; the source must then call `Transfer.resumeSending` when bytes are available.
    func read(into room: inout MutableRawSpan) -> BodyRead
    /// Starts again at the first byte. The transport calls this when it sends the body again, for example after a
    /// redirect.
    func rewind()
}

public enum BodyRead: Equatable, Sendable {
    /// The number of bytes that were read, at least 1.
    case bytes(Int)
    case wait
}

/// Determines whether a request has the field `Expect: 100-continue`. With this field, libcurl waits for the server's
/// consent before it sends the body (RFC 9110, section 10.1.1). The wait takes one round trip, or 1 s if the server
/// does not support the field. If a server accepts a body although it has ignored the field, requests to its origin
/// have no such field for an hour, except with `always`. If the server refuses the request, the body is not sent.
public enum Expectation: Sendable {
    /// The field is sent with bodies of more than 1 MiB over HTTP/1.1.
    case whenLarge
    case always
    case never
}
