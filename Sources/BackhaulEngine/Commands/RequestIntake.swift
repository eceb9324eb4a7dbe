public import BackhaulModel
internal import BackhaulTransport

/// Checks requests without access to a disk. The client checks its requests before it sends them. The engine checks
/// them again, because it does not trust clients. Each call or command that has requests makes its own `RequestIntake`.
public struct RequestIntake {
    private var origins = OriginParser()

    public init() {}

    /// Checks one request. Returns the origin of its URL: scheme, host name and port.
    @discardableResult
    public mutating func check(_ request: Request) throws(Failure) -> Origin {
        try RequestCheck.check(request)
        return try origins.origin(of: request.url)
    }
}
