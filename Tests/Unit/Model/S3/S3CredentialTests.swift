@testable import BackhaulModel
import Testing

@Suite("Credentials of S3")
struct S3CredentialTests {
    private func resolution(
        _ variables: [String: String] = [:], config: String = "", credentials: String = "",
        _ change: (inout S3Settings) -> Void = { _ in }
    ) throws -> S3Resolution {
        var settings = S3Settings()
        change(&settings)
        return try S3Resolution(settings, { variables[$0] }, AWSProfiles(config: config, credentials: credentials))
    }

    private static let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"]
    private static let instance = S3CredentialSource.instance(url: "http://169.254.169.254")

    @Test("the sources come in the order of the command line of AWS")
    func order() throws {
        let file = "[default]\naws_access_key_id = a\naws_secret_access_key=b # c\naws_session_token=d\n"
        let found = try resolution(
            Self.keys.merging(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2"]) { $1 },
            config: "[default]\ncredential_process = run me", credentials: file)
        #expect(
            found.sources == [
                .known(S3Credentials(accessKey: "id", secretKey: "secret"), from: "the environment"),
                .known(
                    S3Credentials(accessKey: "a", secretKey: "b", sessionToken: "d"), from: "the profile default"),
                .command("run me"),
                .container(url: "http://169.254.170.2/v2", authorization: nil, file: nil), Self.instance,
            ])
    }

    @Test("a profile that the program has chosen has priority over keys of the environment, AWS_PROFILE has not")
    func profiles() throws {
        let file = "[work]\naws_access_key_id = a\naws_secret_access_key = b\n"
        let known = S3CredentialSource.known(
            S3Credentials(accessKey: "a", secretKey: "b"), from: "the profile work")
        #expect(try resolution(Self.keys, credentials: file) { $0.profile = "work" }.sources.first == known)
        let variables = Self.keys.merging(["AWS_PROFILE": "work"]) { $1 }
        #expect(try resolution(variables, credentials: file).sources.count == 3)
    }

    @Test("a command of the settings is the only source")
    func command() throws {
        #expect(try resolution(Self.keys) { $0.credentialCommand = "run" }.sources == [.command("run")])
    }

    @Test("the metadata of a virtual machine can be turned off")
    func disabled() throws {
        #expect(try resolution(["AWS_EC2_METADATA_DISABLED": "TRUE"]).sources == [])
    }

    @Test("a profile that no file has, and a profile that needs the tools of AWS, are failures that name it")
    func failures() {
        #expect { try resolution(["AWS_PROFILE": "work"]) } throws: { ($0 as? Failure)?.message.has("work") == true }
        #expect {
            try resolution(config: "[default]\nrole_arn = x")
        } throws: {
            ($0 as? Failure)?.message.has("role_arn") == true
        }
    }

    @Test(
        "a token is sent to an https server, and otherwise only to this machine or its host",
        arguments: [
            ("http://example.org/a", false), ("http://localhost.example.org/", false), ("ftp://localhost/", false),
            ("http://127.0.0.1@example.org/", false), ("https://example.org/a", true), ("http://127.0.0.1:80/a", true),
            ("http://[::1]:80/", true), ("http://169.254.170.23/v1", true),
            ("HTTPS://example.org/a", true), ("HTTP://LocalHost/a", true), ("HTTP://example.org/a", false),
        ])
    func container(_ url: String, _ isTrusted: Bool) {
        let found = try? resolution(["AWS_CONTAINER_CREDENTIALS_FULL_URI": url])
        #expect((found != nil) == isTrusted)
    }

    @Test("endpoint and region come from the settings, the environment, the profile, in this order")
    func settings() throws {
        let config = """
            [default]
            region = r1
            endpoint_url = http://e1
            s3 =
              endpoint_url = http://e2
              addressing_style = virtual
            [profile  other]
            services = local
            [services local]
            s3 =
                endpoint_url = http://e3
            dynamodb =
                endpoint_url = http://e4
            """
        let first = try resolution(config: config).settings
        #expect(first.region == "r1" && first.endpoint == "http://e2" && first.usesPathStyle == false)
        let second = try resolution(["AWS_REGION": "r2", "AWS_ENDPOINT_URL": "http://e5"], config: config).settings
        #expect(second.region == "r2" && second.endpoint == "http://e5")
        #expect(try resolution(config: config) { $0.profile = "other" }.settings.endpoint == "http://e3")
        #expect(try resolution(config: config) { $0.endpoint = "http://e6" }.settings.endpoint == "http://e6")
        let ignored = try resolution(["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"], config: config).settings
        #expect(ignored.endpoint == nil)
    }

    @Test(
        "the JSON of credentials",
        arguments: [
            (#"{"AccessKeyId":"a","SecretAccessKey":"b"}"#, true),
            (
                #" { "Version" : 1, "AccessKeyId":"a", "SecretAccessKey":"\u0062\/", "Token":null, "Code":"Success"} "#,
                true
            ),
            (#"{"AccessKeyId":"a"}"#, false), (#"{"AccessKeyId":"a","SecretAccessKey":"b""#, false),
            (#"{"AccessKeyId":"a","SecretAccessKey":"b"} x"#, false), ("", false), ("{}", false), ("[]", false),
            (#"{"AccessKeyId":"a","SecretAccessKey":"b","Code":"Failed"}"#, false),
            (#"{"AccessKeyId":"a","SecretAccessKey":"b","Expiration":"soon"}"#, false),
        ])
    func json(_ text: String, _ isValid: Bool) {
        #expect((S3Credentials(json: Array(text.utf8)) != nil) == isValid)
    }

    @Test(
        "credentials with a control character are refused, and the failure names the text and its source",
        arguments: ["\n", "\r", "\t", "\u{0}", "\u{7F}", "\r\n\r\nPUT /x HTTP/1.1"])
    func controlCharacters(_ end: String) {
        let good = S3Credentials(accessKey: "a", secretKey: "b", sessionToken: "é")
        let known = S3CredentialSource.known(good, from: "the environment")
        let container = S3CredentialSource.container(url: "http://localhost/v2", authorization: nil, file: nil)
        let cases: [(WritableKeyPath<S3Credentials, String>, S3CredentialSource, String)] = [
            (\.accessKey, known, "the access key from the environment"),
            (\.secretKey, .command("run"), "the secret key from the command for credentials"),
            (\.accessKey, Self.instance, "the access key from the virtual machine's metadata has"),
            (\.secretKey, container, "the secret key from the container's server has"),
        ]
        for (text, source, words) in cases {
            #expect(throws: Never.self) { try good.check(from: source) }
            var bad = good
            bad[keyPath: text] += end
            #expect(refusal(of: bad, source)?.has(words) == true)
        }
        let bad = S3Credentials(accessKey: "a", secretKey: "b", sessionToken: "t" + end)
        #expect(refusal(of: bad, known)?.has("the session token from the environment has a line end") == true)
    }

    private func refusal(of credentials: S3Credentials, _ source: S3CredentialSource) -> String? {
        do throws(Failure) {
            try credentials.check(from: source)
            return nil
        } catch {
            return error.message
        }
    }

    @Test(
        "the times at which credentials expire",
        arguments: [
            ("2013-05-24T00:00:00Z", 1_369_353_600), ("2013-05-24T01:00:00.123+01:00", 1_369_353_600),
            ("2013-05-23T22:30:00-01:30", 1_369_353_600), ("2013-05-24", nil), ("2013-13-24T00:00:00Z", nil),
            ("2013-05-24t00:00:00.5z", 1_369_353_600), ("2013-05-24 00:00:00Z", 1_369_353_600),
            ("2026-11-28Taa:bb:ccZ", nil), ("yyyy-11-28T00:00:00Z", nil), ("2026-11-28T24:00:00Z", nil),
            ("2026-11-28T00:60:00Z", nil), ("2026-11-28T00:00:61Z", nil), ("2026-11-28T00:00:00+aa:00", nil),
            ("2026-11-28T00:00:00+1:000", nil), ("2026-11-28T00:00:00.", nil),
        ] as [(String, Int64?)])
    func times(_ text: String, _ seconds: Int64?) { #expect(S3Credentials.seconds(text) == seconds) }
}
