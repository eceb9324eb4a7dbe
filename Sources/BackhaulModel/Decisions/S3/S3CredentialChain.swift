/// The places at which the engine looks for credentials of S3, in the order of the command line of AWS.
public enum S3CredentialSource: Equatable, Sendable {
    /// - from: the source in messages, such as "the environment".
    case known(S3Credentials, from: String)
    /// A command for /bin/sh that prints credentials as JSON.
    case command(String)
    /// A URL of a container's host. `authorization`: the value of the field Authorization; `file`: the file that has
    /// it.
    case container(url: String, authorization: String?, file: String?)
    /// The metadata of a virtual machine, by IMDSv2. The URL has no slash at its end.
    case instance(url: String)

    /// The source in messages. They have no URL: the path of a container's URL may be what authorizes the fetch.
    var name: String {
        switch self {
        case .known(_, let name): name
        case .command: "the command for credentials"
        case .container: "the container's server"
        case .instance: "the virtual machine's metadata"
        }
    }
}

/// What the environment and the files of AWS say about S3, before a command or a server is asked.
public struct S3Resolution: Equatable, Sendable {
    /// The settings with endpoint and region.
    public let settings: S3Settings
    public let sources: [S3CredentialSource]

    /// - variable: the environment. `profiles`: the files of AWS.
    public init(
        _ settings: S3Settings, _ variable: @escaping (String) -> String?, _ profiles: AWSProfiles
    ) throws(Failure) {
        let given = { (name: String) in variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        let named = settings.profile ?? given("AWS_PROFILE") ?? given("AWS_DEFAULT_PROFILE")
        let found = profiles.profile(named ?? "default")
        if let named, found == nil {
            throw S3Resolution.missing("the files of AWS have no profile \(named); add it, or name another profile")
        }
        let profile = found ?? [:]
        self.settings = settings.completed(variable, profile)
        if let command = settings.credentialCommand {
            sources = [.command(command)]
            return
        }
        var sources: [S3CredentialSource] = []
        // A profile that the program has chosen has priority over the environment.
        if settings.profile == nil, let key = given("AWS_ACCESS_KEY_ID"), let secret = given("AWS_SECRET_ACCESS_KEY") {
            let token = given("AWS_SESSION_TOKEN")
            let known = S3Credentials(accessKey: key, secretKey: secret, sessionToken: token)
            sources.append(.known(known, from: "the environment"))
        }
        if let key = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] {
            let token = profile["aws_session_token"]
            let known = S3Credentials(accessKey: key, secretKey: secret, sessionToken: token)
            sources.append(.known(known, from: "the profile \(named ?? "default")"))
        }
        if let command = profile["credential_process"], !command.isEmpty { sources.append(.command(command)) }
        let others = ["role_arn", "sso_session", "sso_start_url", "login_session"]
        if sources.isEmpty, let other = others.first(where: { profile[$0] != nil }) {
            let name = named ?? "default"
            throw S3Resolution.missing(
                "the profile \(name) has \(other), which needs the tools of AWS; give it the line credential_process "
                    + "= aws configure export-credentials --profile OTHER --format process")
        }
        sources += try S3Resolution.servers(given)
        self.sources = sources
    }

    private static func servers(_ given: (String) -> String?) throws(Failure) -> [S3CredentialSource] {
        var sources: [S3CredentialSource] = []
        let authorization = given("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        let file = given("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        if let path = given("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            sources.append(
                .container(url: "http://169.254.170.2\(path)", authorization: authorization, file: file))
        } else if let url = given("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            guard isTrusted(url) else {
                throw missing(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI is no https URL, and no URL of this machine or of its host"
                )
            }
            sources.append(.container(url: url, authorization: authorization, file: file))
        }
        if given("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" {
            var url = given("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? "http://169.254.169.254"
            while url.hasSuffix("/") { url.removeLast() }
            sources.append(.instance(url: url))
        }
        return sources
    }

    /// Whether credentials may be fetched from the URL, and the token be sent to it.
    private static func isTrusted(_ url: String) -> Bool {
        let url = url.lowercased()
        if url.hasPrefix("https://") { return true }
        guard url.hasPrefix("http://") else { return false }
        let authority = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return ["localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"].contains(host)
    }

    public static func missing(_ reason: String) -> Failure {
        Failure(.authenticationRequired, "there are no credentials for S3: \(reason)")
    }
}

extension S3Credentials {
    /// Throws if one of the texts has a control character. The access key and the session token are sent in header
    /// fields, to which a line end would add lines.
    public func check(from source: S3CredentialSource) throws(Failure) {
        let texts = [("access key", accessKey), ("secret key", secretKey), ("session token", sessionToken ?? "")]
        for (name, text) in texts where !text.utf8.allSatisfy(\.isText) {
            throw S3Resolution.missing(
                "the \(name) from \(source.name) has a line end or another control character; remove it there")
        }
    }

    /// Reads the JSON that a command, a container's host or the metadata of a virtual machine responds with.
    public init?(json bytes: [UInt8]) {
        guard let members = FlatJSON.members(bytes), let key = members["AccessKeyId"],
            let secret = members["SecretAccessKey"], !key.isEmpty, !secret.isEmpty,
            members["Code"] ?? "Success" == "Success"
        else { return nil }
        let expiration = members["Expiration"].flatMap { $0.isEmpty ? nil : $0 }
        var expires: Int64?
        if let expiration {
            guard let seconds = Self.seconds(expiration) else { return nil }
            expires = seconds
        }
        let token = members["SessionToken"] ?? members["Token"]
        self.init(accessKey: key, secretKey: secret, sessionToken: token == "" ? nil : token, expires: expires)
    }

    /// Reads a time such as `2026-11-28T12:00:00Z` or `2026-11-28T12:00:00+00:00` (RFC 3339).
    static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, has(bytes[..<10], form: "0000-00-00"), "Tt ".utf8.contains(bytes[10]),
            has(bytes[11..<19], form: "00:00:00")
        else { return nil }
        let number = { (range: Range<Int>) -> Int64 in
            bytes[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let (year, month, dayOfMonth) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard (1...12).contains(month), (1...31).contains(dayOfMonth), hour < 24, minute < 60, second <= 60 else {
            return nil
        }
        let day = LocalTime.day(year: year, month: Int(month), day: Int(dayOfMonth))
        let local = day * 86_400 + hour * 3_600 + minute * 60 + second
        let zone = bytes[19...].drop { $0 == UInt8(ascii: ".") || $0.isDigit }
        if zone.elementsEqual("Z".utf8) || zone.elementsEqual("z".utf8) { return local }
        guard let sign = zone.first, "+-".utf8.contains(sign), has(zone.dropFirst(), form: "00:00") else { return nil }
        let start = zone.startIndex + 1
        let offset = number(start..<start + 2) * 3_600 + number(start + 3..<start + 5) * 60
        return sign == UInt8(ascii: "+") ? local - offset : local + offset
    }

    /// Whether the text has this form, in which 0 stands for any digit.
    private static func has(_ text: ArraySlice<UInt8>, form: String) -> Bool {
        text.count == form.utf8.count
            && zip(text, form.utf8).allSatisfy { $1 == UInt8(ascii: "0") ? $0.isDigit : $0 == $1 }
    }
}
