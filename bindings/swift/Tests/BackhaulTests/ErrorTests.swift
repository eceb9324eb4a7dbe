import Backhaul
import Foundation
import TestSupport
import Testing

@Suite("What goes wrong")
struct ErrorTests {
    let server: Server

    init() throws { server = try Server() }

    private func open() async throws -> Application {
        try await Application.open("org.example.tests", store: server.path("store"), hosting: .embedded)
    }

    @Test("A relative store is refused with a sentence")
    func relativeStore() async throws {
        let error = await #expect(throws: BackhaulError.self) {
            try await Application.open("org.example.tests", store: "relative")
        }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.isEmpty == false)
    }

    @Test("The bad request among many is named, and nothing is applied")
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

    @Test("A NUL character in a string is refused, not cut off", arguments: ["url", "destination", "key", "header"])
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

    @Test("An absent session is not found")
    func absentSession() async throws {
        let application = try await open()
        let error = await #expect(throws: BackhaulError.self) { try await application.attachSession("absent") }
        #expect(error?.status == .notFound)
        await application.close()
    }

    @Test("After close every verb says so, and whoever waited is told")
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

    @Test("Every status of the library has its constant")
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
        .sizeMismatch, .bodyUnavailable, .bodyChanged, .tlsTruncated,
    ]
}
