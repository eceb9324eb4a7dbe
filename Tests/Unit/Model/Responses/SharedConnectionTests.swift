import BackhaulModel
import Testing

/// A response over HTTP/2 comes over a connection that other requests to its server can share.
@Suite("Shared connections")
struct SharedConnectionTests {
    private let own = Origin(scheme: "https", server: "own.example", port: 443)
    private let other = Origin(scheme: "https", server: "other.example", port: 443)

    @Test("a response of another server does not show whether requests share connections", arguments: [false, true])
    func redirected(isMultiplexed: Bool) {
        let head = ResponseHead(
            status: 200, finalURL: "https://own.example/a", isMultiplexed: isMultiplexed, fields: [], origin: own.text)
        #expect(head.sharesConnection(to: own) == isMultiplexed)
        #expect(head.sharesConnection(to: other) == nil)
    }
}
