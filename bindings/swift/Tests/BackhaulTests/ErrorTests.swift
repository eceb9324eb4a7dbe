import Backhaul
import Foundation
import HostTestSupport
import Testing

@Suite("Errors", .timeLimit(.minutes(10)))
struct ErrorTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    @Test("a relative store path is refused with a message")
    func relativeStore() async throws {
        let error = await #expect(throws: BackhaulError.self) {
            try await Application.open("org.example.tests", store: "relative")
        }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.isEmpty == false)
    }

    @Test("if one of many requests is invalid, the error has this request's index, and no task is made")
    func badRequest() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        var requests = (0..<5).map { Request(url: server.url("\($0)"), destination: server.path("\($0)")) }
        requests[3].url = "gopher://example.org/"
        let error = await #expect(throws: BackhaulError.self) { try await session.enqueue(requests) }
        #expect(error?.status == .invalidArgument)
        #expect(error?.index == 3)
        for try await task in session.tasks() { Issue.record("Task \(task.id) was made.") }
        await application.close()
    }

    @Test(
        "a string with a NUL character is refused; it is not truncated",
        arguments: ["url", "destination", "key", "header"])
    func nul(field: String) async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        var request = Request(url: server.url("a"), destination: server.path("a"))
        switch field {
        case "url": request.url += "\0"
        case "destination": request.destination = "/a\0b"
        case "key": request.idempotencyKey = "\0"
        default: request.headers = [Header(name: "A", value: "b\0c")]
        }
        let error = await #expect(throws: BackhaulError.self) { try await session.enqueue([request]) }
        #expect(error?.status == .invalidArgument)
        #expect(error?.index == 0)
        await application.close()
    }

    /// Settings that the library refuses.
    private static let wrong: [@Sendable (inout SessionConfiguration) -> Void] = [
        { $0.retry.firstDelay = .seconds(100_000) },
        {
            $0.retry.firstDelay = .seconds(2); $0.retry.longestDelay = .seconds(1)
        },
        {
            $0.retry.errors = []; $0.retry.maximumAttempts = 2
        },
        { $0.rules.acceptedStatuses = "x" },
        { $0.rules.acceptedTypes = "x" },
        { $0.constraints.maximumThermalState = .critical },
        { $0.constraints.quietHours = "x" },
        { $0.tls.caFile = "relative" },
        { $0.tls.clientKey = "/key" },
        { $0.tls.pinnedPublicKeys = "x" },
        { $0.proxy = Proxy(url: "x") },
        { $0.connectionsPerOrigin = 257 },
        { $0.historyLimit = .tasks(100_001) },
        { $0.slowAfter = .milliseconds(1) },
        { $0.launchIfStopped = .seconds(100_000) },
    ]

    @Test("the message of the library has the names of Swift, and no names of C", arguments: wrong.indices)
    func names(index: Int) async throws {
        let application = try await open()
        var configuration = SessionConfiguration(identifier: "s")
        ErrorTests.wrong[index](&configuration)
        do {
            _ = try await application.createSession(configuration)
            Issue.record("The configuration was accepted.")
        } catch let error as BackhaulError {
            #expect(error.status == .invalidArgument)
            let words = ["_", "BH", "NULL"].filter { error.message.contains($0) }
            #expect(words.isEmpty, "\(error.message)")
        }
        await application.close()
    }

    @Test("a name of C that is part of a path stays as it is")
    func path() {
        let error = BackhaulError(.invalidArgument, message: "/first_ms cannot be read; set retry.first_delay_ms")
        #expect(error.message == "/first_ms cannot be read; set retry.firstDelay in milliseconds")
    }

    @Test("if a session does not exist, attachSession fails with notFound")
    func absentSession() async throws {
        let application = try await open()
        let error = await #expect(throws: BackhaulError.self) { try await application.attachSession("absent") }
        #expect(error?.status == .notFound)
        await application.close()
    }

    @Test("when the application is closed, waiting calls fail; later calls fail with invalidHandle")
    func closed() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let waiting = Task { try await session.events.first { _ in true } }
        _ = try await application.sessions()
        await application.close()
        await #expect(throws: BackhaulError.self) { try await waiting.value }
        let error = await #expect(throws: BackhaulError.self) { try await session.complete() }
        #expect(error?.status == .invalidHandle)
        await application.close()
        session.close()
    }

    @Test("every status of the library has a constant in Swift")
    func statuses() {
        for value in Int32(0)..<200 where Status(rawValue: value).name != "BH_UNKNOWN" {
            #expect(ErrorTests.known.contains { $0.rawValue == value }, "\(Status(rawValue: value).name)")
        }
        #expect(Set(ErrorTests.known.map(\.name)).count == ErrorTests.known.count)
    }

    private static let known: [Status] = [
        .ok, .invalidArgument, .invalidHandle, .forked, .notFound, .alreadyExists, .keyConflict, .destinationInUse,
        .inUse, .timeout, .wrongState, .wrongRole, .invalidated, .eventsOutstanding, .tooMany, .storeUnavailable,
        .storeReadOnly, .storeFull, .storeDamaged, .storeNewer, .storeOnNetworkFileSystem, .engineUnresponsive,
        .engineIncompatible, .engineFailed, .outOfResources, .internal, .cancelled, .nameNotResolved,
        .connectionFailed, .connectionLost, .requestTimeout, .resourceTimeout, .tlsFailed, .httpStatus,
        .redirectRefused, .badResponse, .destinationExists, .destinationUnavailable, .diskFull, .diskFailed, .tooLarge,
        .completed, .started, .daemonUnavailable, .authenticationRequired, .checksumMismatch,
        .sizeMismatch, .bodyUnavailable, .bodyChanged, .tlsTruncated, .storageAway, .unexpectedType,
    ]
}
