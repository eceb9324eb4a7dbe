public import BackhaulModel
internal import BackhaulTransport

/// Checks requests without access to a disk. The client checks its requests before it sends them. The engine checks
/// them again, because it does not trust clients. Each call or command that has requests makes its own `RequestIntake`.
public struct RequestIntake {
    private var origins = OriginParser()

    public init() {}

    /// The URL with the ASCII form of its host name. The client converts the URLs, so that messages and the store have
    /// only this form.
    public static func ascii(url: String) throws(Failure) -> String { try HostName.ascii(url: url) }

    /// Checks one request. Returns the origin of its URL: scheme, host name and port.
    @discardableResult
    public mutating func check(_ request: Request) throws(Failure) -> Origin {
        try RequestCheck.check(request)
        return try origins.origin(of: request.url)
    }
}
