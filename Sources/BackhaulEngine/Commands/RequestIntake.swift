public import BackhaulModel
internal import BackhaulTransport

/// Checks requests as far as that needs no disk: by the host before they are sent, and by the engine when they arrive,
/// because either treats the other as hostile. A value of its own for each enqueue.
public struct RequestIntake {
    private var origins = OriginReader()

    public init() {}

    /// Returns the URL's origin.
    public mutating func check(_ request: Request) throws(Failure) -> Origin {
        try RequestCheck.check(request)
        return try origins.origin(of: request.url)
    }
}
