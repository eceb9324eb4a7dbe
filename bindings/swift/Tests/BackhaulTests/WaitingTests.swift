import Backhaul
import Foundation
import HostTestSupport
import Testing

/// The *consumer* of a session is the one program that reads the session's events. The *engine* runs the session's
/// tasks.
@Suite("Waiting for another consumer", .timeLimit(.minutes(10)))
struct WaitingTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    @Test("the launch and credential settings of a session are stored")
    func configuration() async throws {
        let application = try await open()
        var configuration = SessionConfiguration(identifier: "s")
        configuration.sendsLaunchEvents = false
        configuration.asksForCredentials = true
        configuration.launchIfStopped = .seconds(90)
        let session = try await application.createSession(configuration)
        let remembered = try await session.configuration()
        #expect(remembered.sendsLaunchEvents == false)
        #expect(remembered.asksForCredentials == true)
        #expect(remembered.launchIfStopped == .seconds(90))
        await application.close()
    }

    @Test("when the consumer closes the session, another program that waits becomes the consumer")
    func consumerWaits() async throws {
        let (first, second) = (try await open(), try await open())
        let present = try await first.createSession(SessionConfiguration(identifier: "s"))
        let next = Task { try await second.attachSession("s", role: .consumeWhenFree) }
        for await info in first.attention where info.asksToYield {
            #expect(info.waitingConsumers == 1)
            break
        }
        present.close()
        let session = try await next.value
        #expect(try await session.poll().events.isEmpty)
        await first.close()
        await second.close()
    }

    @Test("if a Swift task that waits to become the consumer is cancelled, the engine also ends the wait")
    func cancelledConsumer() async throws {
        let (first, second) = (try await open(), try await open())
        _ = try await first.createSession(SessionConfiguration(identifier: "s"), role: .produce)
        let present = try await first.attachSession("s")
        let next = Task { try await second.attachSession("s", role: .consumeWhenFree) }
        for await info in first.attention where info.asksToYield { break }
        next.cancel()
        await #expect(throws: CancellationError.self) { try await next.value }
        while try await first.sessions().first?.waitingConsumers != 0 { await Task.yield() }
        present.close()
        let session = try await first.attachSession("s")
        session.close()
        await first.close()
        await second.close()
    }
}
