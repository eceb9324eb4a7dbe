@testable import BackhaulModel
import Testing

@Suite("Where an object of S3 is")
struct S3LocationTests {
    private func settings(_ endpoint: String? = nil, _ region: String? = nil, _ path: Bool? = nil) -> S3Settings {
        var settings = S3Settings()
        (settings.endpoint, settings.region, settings.usesPathStyle) = (endpoint, region, path)
        return settings
    }

    @Test("the URL of an object")
    func urls() throws {
        let cases: [(String, S3Settings, String)] = [
            ("s3://bucket/a/b", settings(), "https://bucket.s3.us-east-1.amazonaws.com/a/b"),
            (
                "S3://bucket/a%20b%2b", settings(nil, "eu-central-1"),
                "https://bucket.s3.eu-central-1.amazonaws.com/a%20b%2B"
            ),
            ("s3://bucket/a", settings(nil, "cn-north-1"), "https://bucket.s3.cn-north-1.amazonaws.com.cn/a"),
            ("s3://my.bucket/a", settings(), "https://s3.us-east-1.amazonaws.com/my.bucket/a"),
            ("s3://Bucket/a", settings(), "https://s3.us-east-1.amazonaws.com/Bucket/a"),
            ("s3://bucket/a", settings(nil, nil, true), "https://s3.us-east-1.amazonaws.com/bucket/a"),
            ("s3://bucket/a", settings("http://Localhost:9000/"), "http://localhost:9000/bucket/a"),
            ("s3://bucket/a", settings("https://s.example:443/base"), "https://s.example/base/bucket/a"),
            ("s3://bucket/a", settings("s.example", nil, false), "https://bucket.s.example/a"),
            ("s3://bucket/ü?uploadId=1", settings("http://[::1]:80"), "http://[::1]/bucket/%C3%BC?uploadId=1"),
        ]
        for (url, settings, expected) in cases {
            #expect(try S3Location(S3Object(url), settings).url == expected)
        }
    }

    @Test("the field Host has the port, if it is not the one of the scheme")
    func host() throws {
        #expect(try S3Location(S3Object("s3://bucket/a"), settings("http://a:9000")).host == "a:9000")
        #expect(try S3Location(S3Object("s3://bucket/a"), settings("https://a:443")).host == "a")
    }

    @Test(
        "a wrong endpoint or region is refused",
        arguments: ["", "ftp://a", "http://", "http://u@a", "http://a?b", "http://a b"])
    func endpoint(_ text: String) {
        #expect(throws: Failure.self) { try S3Location(S3Object("s3://bucket/a"), settings(text)) }
        #expect(throws: Failure.self) { try S3Location(S3Object("s3://bucket/a"), settings(nil, "evil.example/")) }
    }

    @Test(
        "a wrong URL is refused",
        arguments: [
            "s3://", "s3://bucket", "s3://bucket/", "s3://bu/a", "s3://bu%63ket/a", "s3://bucket/a?b",
            "s3://bucket/a#b",
            "s3://bucket/a/../b", "s3://bucket/%2E", "s3://bucket/%2",
            "s3://bucket/" + String(repeating: "a", count: 1_025),
        ])
    func refused(_ url: String) { #expect(throws: Failure.self) { try S3Object.check(url) } }
}
