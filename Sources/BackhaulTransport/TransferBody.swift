/// The bytes of a request's body, as they are wanted. Confined to the loop's thread, which it never blocks.
public protocol TransferBody: AnyObject {
    /// Sent as Content-Length; so many bytes are read, and no more.
    var size: UInt64 { get }
    /// Puts the next bytes at the start of `room`, which is never empty. When none are here yet, whoever has them later
    /// calls `Transfer.resumeSending`.
    func read(into room: inout MutableRawSpan) -> BodyRead
    /// The next byte is the first again: a redirect or a connection that broke has the body sent once more.
    func rewind()
}

public enum BodyRead: Equatable, Sendable {
    /// At least one.
    case bytes(Int)
    case wait
}

/// Whether the server is asked before it is sent the body (RFC 9110, section 10.1.1). It costs a round trip, or a
/// second with a server that does not know of it, and saves the body when the answer is no.
public enum Expectation: Sendable {
    /// For bodies of more than 1 MiB over HTTP/1.1, where it is needed most.
    case whenLarge
    case always
    case never
}
