import Backhaul
import HostTestSupport

/// A suite whose tests run the engine in the process of the tests. Each test has a server and a store.
protocol EmbeddedTests {
    var server: Server { get }
}

extension EmbeddedTests {
    func open() async throws -> Application {
        try await Application.open("org.example.tests", store: server.path("store"), hosting: .embedded)
    }
}
