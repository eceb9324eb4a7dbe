import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine

@Suite("Connected clients")
struct ClientRegistryTests {
    @Test("a removed connection is marked as ended, so that the store's thread skips its listings")
    func removed() {
        let clients = ClientRegistry()
        let client = FakeClient(clients)
        let hadEnded = client.connection.hasEnded.withLock { $0 }
        #expect(!hadEnded)
        _ = clients.remove(client.id)
        let hasEnded = client.connection.hasEnded.withLock { $0 }
        #expect(hasEnded)
    }
}
