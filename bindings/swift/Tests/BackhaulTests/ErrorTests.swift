import Backhaul
import Foundation
import HostTestSupport
import Testing

@Suite("Errors", .timeLimit(.minutes(10)))
struct ErrorTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    @Test(
        "a message about an argument of Application.open begins with the name of the argument",
        arguments: [("", nil, 30, "identifier "), ("tests", "relative", 30, "store "), ("tests", nil, -1, "timeout ")]
            as [(String, String?, Int, String)])
    func arguments(identifier: String, store: String?, timeout: Int, name: String) async throws {
        let error = await #expect(throws: BackhaulError.self) {
            try await Application.open(identifier, store: store, hosting: .embedded, timeout: .seconds(timeout))
        }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.hasPrefix(name) == true, "\(error?.message ?? "")")
    }

    /// Changes of a request that make it invalid, each with a part of the message.
    private static let wrongRequests: [(change: @Sendable (inout Request) -> Void, message: String)] = [
        ({ $0.body = .bytes(Array(repeating: 0, count: 2_000_000)) }, "the number of bytes in body is 2000000; "),
        ({ $0.userData = Array(repeating: 0, count: 70_000) }, "userData.count is 70000; "),
        ({ $0.body = .form([]) }, "body is a form without parts"),
        ({ $0.checksum = .sha256("abcd") }, ".sha256 with 64 hexadecimal digits"),
        ({ $0.checksum = .sha512("sha-512:" + String(repeating: "0", count: 128)) }, "and no prefix"),
    ]

    @Test("the message about an invalid request has the names of Swift", arguments: wrongRequests.indices)
    func requests(index: Int) async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        var request = Request(url: server.url("a"), destination: server.path("a"))
        ErrorTests.wrongRequests[index].change(&request)
        let error = await #expect(throws: BackhaulError.self) { try await session.enqueue([request]) }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.contains(ErrorTests.wrongRequests[index].message) == true, "\(error?.message ?? "")")
        await application.close()
    }

    @Test("a negative maximum is refused, and the message has the number that the program gave")
    func negativeMaximum() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let history = await #expect(throws: BackhaulError.self) { try await session.history(maximum: -1) }
        let poll = await #expect(throws: BackhaulError.self) { try await session.poll(maximum: -2) }
        #expect([history?.message, poll?.message].map { $0?.prefix(13) } == ["maximum is -1", "maximum is -2"])
        await application.close()
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

    /// In C, 0 means that the size is not checked, or that the mode or the end of the range is not given.
    @Test("a size, a range or a mode of 0 is refused", arguments: ["expectedSize", "rangeSize", "mode"])
    func zero(field: String) async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        var request = Request(url: server.url("a"), destination: server.path("a"))
        switch field {
        case "expectedSize": request.expectedSize = 0
        case "rangeSize": request.rangeSize = 0
        default: request.mode = 0
        }
        let error = await #expect(throws: BackhaulError.self) { try await session.enqueue([request]) }
        #expect(error?.status == .invalidArgument && error?.index == 0)
        #expect(error?.message.contains("\(field) is 0") == true)
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

    @Test("the name of a host that begins like a name of C stays as it is")
    func host() {
        let error = BackhaulError(.nameNotResolved, message: "options.example.org has no address")
        #expect(error.message == "options.example.org has no address")
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
        .addressRefused, .dependencyFailed,
    ]
}
