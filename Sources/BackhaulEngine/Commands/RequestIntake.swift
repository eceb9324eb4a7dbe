public import BackhaulModel
internal import BackhaulTransport

/// Checks requests without access to a disk. The client checks its requests before it sends them. The engine checks
/// them again, because it does not trust clients. Each enqueue has its own `RequestIntake`.
public struct RequestIntake {
    private var origins = OriginParser()

    public init() {}

    /// Returns the URL's origin.
    public mutating func check(_ request: Request) throws(Failure) -> Origin {
        try RequestCheck.check(request)
        return try origins.origin(of: request.url)
    }
}
