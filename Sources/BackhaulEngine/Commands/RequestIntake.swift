public import BackhaulModel
internal import BackhaulTransport

/// Checks requests as far as that needs no disk. The host checks before it sends them, and the engine checks what
/// arrives, because it does not trust clients. Each enqueue has its own value.
public struct RequestIntake {
    private var origins = OriginReader()

    public init() {}

    /// Returns the URL's origin.
    public mutating func check(_ request: Request) throws(Failure) -> Origin {
        try RequestCheck.check(request)
        return try origins.origin(of: request.url)
    }
}
