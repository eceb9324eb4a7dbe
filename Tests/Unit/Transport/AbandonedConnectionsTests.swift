import BackhaulModel
import Testing

@testable import BackhaulTransport

@Suite("Connections that later requests must not use")
struct AbandonedConnectionsTests {
    private let origin = Origin(scheme: "https", server: "a.example.org", port: 443)

    @Test("several requests that time out on one connection count it once, and other origins are not affected")
    func once() {
        var abandoned = AbandonedConnections()
        abandoned.add(origin, known: 0)
        abandoned.add(origin, known: 0)
        #expect(abandoned.count(of: origin) == 1)
        abandoned.add(origin, known: 1)
        #expect(abandoned.count(of: origin) == 2)
        #expect(abandoned.count(of: Origin(scheme: "https", server: "b.example.org", port: 443)) == 0)
    }
}
