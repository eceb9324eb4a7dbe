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

    /// Checks one request. Returns the origin of its URL: scheme, host name and port. `session`: the configuration of
    /// its session, if it is known.
    @discardableResult
    public mutating func check(_ request: Request, in session: SessionConfiguration? = nil) throws(Failure) -> Origin {
        try RequestCheck.check(request)
        if S3Object.isObject(request.url) {
            let policy = TransferPolicy(session ?? SessionConfiguration(identifier: ""), request.options.policy)
            return try URLParser.origin(of: request.url, policy.s3)
        }
        return try origins.origin(of: request.url)
    }
}
