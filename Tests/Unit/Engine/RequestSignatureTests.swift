import BackhaulDisk
@testable import BackhaulModel
import Testing

/// The examples of "Authenticating Requests: Using the Authorization Header" in the manual of S3.
@Suite("The signature of a request of S3")
struct RequestSignatureTests {
    private func authorization(
        _ method: String, _ url: String, _ headers: [HeaderField] = [], payload: String = RequestSignature.emptyPayload
    ) throws -> String? {
        let credentials = S3Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        var settings = S3Settings()
        settings.endpoint = "https://s3.amazonaws.com"
        settings.usesPathStyle = false
        let location = try S3Location(S3Object(url), settings)
        let signature = RequestSignature(credentials, region: "us-east-1", hash: ByteDigest.sha256)
        let fields = try signature.fields(
            method: method, location, headers: headers, payload: payload, seconds: 1_369_353_600)
        #expect(fields.contains(HeaderField("x-amz-date", "20130524T000000Z")))
        return fields.first { $0.name == "Authorization" }?.value
    }

    @Test("a GET with a range has the signature of the manual")
    func get() throws {
        let value = try authorization("GET", "s3://examplebucket/test.txt", [HeaderField("Range", "bytes=0-9")])
        #expect(
            value
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test("queries are signed in their order, and a parameter without a value has an empty one")
    func queries() throws {
        let first = try authorization("GET", "s3://examplebucket/a?prefix=J&max-keys=2")
        let second = try authorization("GET", "s3://examplebucket/a?max-keys=2&prefix=J")
        #expect(first == second)
        #expect(
            try authorization("POST", "s3://examplebucket/a?uploads")
                == authorization("POST", "s3://examplebucket/a?uploads="))
    }
}
