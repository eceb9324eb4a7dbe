import BackhaulModel
import Testing

@testable import BackhaulTransport

@Suite("Origins that are remembered for an hour")
struct TemporaryOriginsTests {
    private let origin = Origin(scheme: "https", server: "a.example.org", port: 443)

    @Test("an origin is forgotten after an hour, and other origins are not affected")
    func hour() {
        var origins = TemporaryOrigins()
        origins.add(origin, now: 1_000)
        #expect(origins.includes(origin, now: 1_000))
        #expect(origins.includes(origin, now: 999 + TemporaryOrigins.milliseconds))
        #expect(!origins.includes(origin, now: 1_000 + TemporaryOrigins.milliseconds))
        #expect(!origins.includes(Origin(scheme: "https", server: "b.example.org", port: 443), now: 1_000))
    }

    @Test("an origin can be removed early and added again")
    func again() {
        var origins = TemporaryOrigins()
        origins.add(origin, now: 0)
        origins.remove(origin)
        #expect(!origins.includes(origin, now: 0))
        origins.add(origin, now: 0)
        #expect(origins.includes(origin, now: 0))
    }
}
