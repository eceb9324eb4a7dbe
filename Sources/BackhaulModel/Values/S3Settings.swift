/// How objects of S3 are found, and whose credentials are used. Nil: the environment of the engine's process decides,
/// then the profile in the files of AWS, and then the default.
public struct S3Settings: Hashable, Sendable {
    /// The URL of the server; nil: AWS.
    public var endpoint: String?
    public var region: String?
    public var profile: String?
    /// A command for /bin/sh that prints credentials as JSON.
    public var credentialCommand: String?
    /// Whether the bucket is in the path of the URL, and not in the name of the server.
    public var usesPathStyle: Bool?

    public init() {}

    /// The settings of a task. `session`: those that apply if the task has none.
    init(_ task: TaskPolicy, or session: TaskPolicy) {
        endpoint = task.s3Endpoint
        region = task.s3Region
        profile = task.s3Profile
        credentialCommand = task.s3CredentialCommand
        usesPathStyle = task.s3PathStyle
        self = completed(by: session)
    }

    /// Returns the settings with those of the session in place of the ones that are not stated.
    public func completed(by session: TaskPolicy) -> S3Settings {
        var settings = self
        settings.endpoint = endpoint ?? session.s3Endpoint
        settings.region = region ?? session.s3Region
        settings.profile = profile ?? session.s3Profile
        settings.credentialCommand = credentialCommand ?? session.s3CredentialCommand
        settings.usesPathStyle = usesPathStyle ?? session.s3PathStyle
        return settings
    }

    /// Returns the settings that state endpoint and region, if the environment or the profile has them.
    public func completed(_ variable: (String) -> String?, _ profile: [String: String] = [:]) -> S3Settings {
        func first(_ values: String?...) -> String? { values.lazy.compactMap(\.self).first { !$0.isEmpty } }
        var settings = self
        let ignores = variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")?.lowercased() == "true"
        settings.endpoint = first(
            endpoint, ignores ? nil : variable("AWS_ENDPOINT_URL_S3"), ignores ? nil : variable("AWS_ENDPOINT_URL"),
            ignores ? nil : profile["s3.endpoint_url"], ignores ? nil : profile["endpoint_url"])
        settings.region = first(region, variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"), profile["region"])
        if settings.usesPathStyle == nil, let style = profile["s3.addressing_style"], style != "auto" {
            settings.usesPathStyle = style == "path"
        }
        return settings
    }

    public static func isRegion(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
    }

    /// The region of AWS that is used if none is stated. A bucket of another region answers with its region.
    public static let standardRegion = "us-east-1"
}

/// An access key of S3, for a time.
public struct S3Credentials: Equatable, Sendable {
    public var accessKey: String
    public var secretKey: String
    public var sessionToken: String?
    /// When the key expires, in seconds since 1970; nil: never.
    public var expires: Int64?

    public init(accessKey: String, secretKey: String, sessionToken: String? = nil, expires: Int64? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expires = expires
    }
}
