public import BackhaulModel

/// What a request for an object of S3 needs besides its URL, `s3://bucket/key`.
public struct S3Request: Sendable {
    public var settings: S3Settings
    /// The SHA-256 of the body, in hexadecimal digits.
    public var payload = RequestSignature.emptyPayload

    public init(_ settings: S3Settings) { self.settings = settings }
}

/// Where a request for an object of S3 is sent, and whose signature it has.
struct S3Access {
    /// The endpoint of the completed settings; nil: AWS.
    var endpoint: String?
    var location: S3Location
    var credentials: S3Credentials
}

extension URLParser {
    /// Returns the origin of a request's URL. For an object of S3, this is the origin of the server that the settings
    /// and the environment name. A profile may name another one, which is known only when the request is sent.
    public static func origin(of url: String, _ settings: S3Settings) throws(Failure) -> Origin {
        let object = try S3Object.check(url)
        return try origin(of: S3Location(object, settings.completed(S3Files.variable)).url)
    }
}
