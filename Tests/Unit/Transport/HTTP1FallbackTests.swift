import BackhaulModel
import Testing

@testable import BackhaulTransport

/// After a failure of HTTP/2 at an origin (scheme, host name and port), requests to this origin use HTTP/1.1 for
/// up to an hour: this is the *fallback*.
@Suite("The fallback of an origin to HTTP/1.1")
struct HTTP1FallbackTests {
    let origin = Origin(scheme: "https", server: "a.example.org", port: 443)

    @Test(
        "during a fallback to HTTP/1.1, a bad response or a TLS failure counts as a lost connection",
        arguments: [Status.badResponse, .tlsFailed])
    func isLost(_ status: Status) {
        let failure = HTTP1Fallback.failure(Failure(status, "words", domain: .curl, detail: 1), of: origin)
        #expect(failure.status == .connectionLost)
        #expect(failure.message.contains("words"))
        #expect(failure.message.contains(origin.text))
        #expect((failure.domain, failure.detail) == (.curl, 1))
    }

    @Test(
        "during a fallback to HTTP/1.1, other failures keep their status",
        arguments: [Status.requestTimeout, .connectionFailed, .connectionLost])
    func isKept(_ status: Status) {
        let failure = Failure(status, "words")
        #expect(HTTP1Fallback.failure(failure, of: origin) == failure)
    }
}
