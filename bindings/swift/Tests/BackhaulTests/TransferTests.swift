import Backhaul
import Foundation
import HostTestSupport
import Testing

/// The *engine* of a store runs the store's tasks.
@Suite("Requests, sessions and the store", .timeLimit(.minutes(10)))
struct TransferTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    /// Reads and acknowledges the session's events up to `sessionFinished`, which reports that all tasks have ended.
    private func events(of session: Session) async throws -> [Event] {
        var events: [Event] = []
        for try await event in session.events {
            events.append(event)
            try await session.acknowledge(event)
            if case .sessionFinished = event { break }
        }
        return events
    }

    /// Returns the names of the properties that are nil, in the value and in the structs in it.
    private func unset(_ value: Any) -> [String] {
        Mirror(reflecting: value).children.flatMap { name, property -> [String] in
            let mirror = Mirror(reflecting: property)
            switch mirror.displayStyle {
            case .optional: return mirror.children.isEmpty ? [name ?? ""] : []
            case .struct: return unset(property)
            default: return []
            }
        }
    }

    @Test("every setting of a session is stored as given")
    func configuration() async throws {
        var given = SessionConfiguration(identifier: "gallery")
        given.connectionsPerOrigin = 1
        given.maximumRunningTasks = 2
        given.retry.maximumAttempts = 3
        given.retry.firstDelay = .milliseconds(4)
        given.retry.longestDelay = .seconds(5)
        given.retry.jitterPercent = 6
        given.retry.errors = [.name, .badResponse]
        given.retry.unsafeMethods = true
        given.retry.statuses = "503"
        given.rules.acceptedStatuses = "200,404"
        given.rules.acceptedTypes = "image/*,application/zip"
        given.rules.requestTimeout = .seconds(7)
        given.rules.resourceTimeout = .seconds(8)
        given.rules.httpVersion = .http1_1
        given.rules.redirects = .sameOrigin
        given.rules.maximumRedirects = 9
        given.rules.maximumSize = 10
        given.rules.refusesPrivateAddresses = true
        given.rules.resumableUploads = .tus
        given.rules.s3Endpoint = "https://minio.example:9000"
        given.rules.s3Region = "eu-central-1"
        given.rules.s3Profile = "backups"
        given.rules.s3CredentialCommand = "print-keys"
        given.rules.s3PathStyle = false
        given.bytesPerSecond = 11
        given.sendsLaunchEvents = false
        given.asksForCredentials = true
        given.launchIfStopped = .seconds(12)
        given.headers = [Header(name: "X-Token", value: "t")]
        given.proxy = Proxy(url: "socks5h://127.0.0.1:1080", user: "me", password: "word", bypass: "localhost")
        given.cookies = .persistent
        given.tls.minimumVersion = .tls1_3
        given.tls.caFile = "/ca.pem"
        given.tls.clientCertificate = "/c.pem"
        given.tls.clientKey = "/k.pem"
        given.tls.pinnedPublicKeys = "sha256//" + String(repeating: "A", count: 43) + "="
        given.constraints.preset = .overnight
        given.constraints.requiresExternalPower = false
        given.constraints.requiresUnmetered = true
        given.constraints.networks = [.ethernet, .wifi]
        given.constraints.minimumBatteryPercent = 30
        given.constraints.maximumThermalState = .fair
        given.constraints.maximumCPUPressurePercent = 40
        given.constraints.maximumIOPressurePercent = 50
        given.constraints.maximumMemoryPressurePercent = 60
        given.constraints.minimumBytesPerSecond = 70_000
        given.constraints.quietHours = "mon-fri 08:00-18:00, sat 10:00-14:00"
        given.budget = Budget(daily: 16, monthly: 0)
        given.historyLimit = .noTasks
        given.slowAfter = .seconds(14)
        given.slowPause = .seconds(15)
        given.isDiscretionaryIfLaunched = false
        given.tolerances = [.missingCloseNotify, .earlyResponse]
        #expect(unset(given) == [], "the test gives no value for these properties")
        let application = try await open()
        let session = try await application.createSession(given, role: .produce)
        #expect(try await session.configuration() == given)
        given.historyLimit = .tasks(13)
        given.rules.redirects = .never
        given.constraints = Constraints()
        given.budget.monthly = nil
        given.isDiscretionaryIfLaunched = true
        try await session.setConfiguration(given)
        #expect(try await session.configuration() == given)
        await application.close()
    }

    @Test("by default, a session tolerates no faults of servers, and unknown tolerances are refused")
    func tolerances() async throws {
        let application = try await open()
        var given = SessionConfiguration(identifier: "gallery")
        given.tolerances = Tolerances(rawValue: 4)
        let error = await #expect(throws: BackhaulError.self) {
            _ = try await application.createSession(given, role: .produce)
        }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.contains("tolerances has the unknown bits 0x4") == true, "\(error?.message ?? "")")
        given.tolerances = []
        let session = try await application.createSession(given, role: .produce)
        #expect(try await session.configuration().tolerances == [])
        await application.close()
    }

    @Test("with an empty set of retried errors, no error is retried; nil stands for the default")
    func retriesNothing() async throws {
        var given = SessionConfiguration(identifier: "gallery")
        #expect(given.retry.errors == nil)
        given.retry.errors = []
        let application = try await open()
        let session = try await application.createSession(given)
        #expect(try await session.configuration().retry.errors == [])
        // No server listens at port 9, so each attempt fails with an error that is retried by default.
        try await session.download("http://127.0.0.1:9/", to: server.path("a"))
        for event in try await events(of: session) {
            if case .taskEnded(let ending) = event { #expect(ending.attempts == 1) }
        }
        given.retry.errors = nil
        try await session.setConfiguration(given)
        #expect(try await session.configuration().retry.errors?.contains(.connection) == true)
        await application.close()
    }

    @Test("the applications of a store are listed with their counts")
    func applications() async throws {
        let application = try await open()
        _ = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let other = try await Application.open("org.example.other", store: server.path("store"), hosting: .embedded)
        let found = try await application.applications()
        #expect(found.map(\.identifier) == ["org.example.other", "org.example.tests"])
        #expect(found.map(\.sessions) == [0, 1])
        #expect(found.map(\.hosts) == [1, 1])
        #expect(found.allSatisfy { !$0.hasLaunchCommand && $0.liveTasks == 0 && $0.events == 0 })
        await other.close()
        await application.close()
    }

    @Test("the metrics of the engine are OpenMetrics text")
    func metrics() async throws {
        let application = try await open()
        let text = try await application.metrics()
        #expect(text.contains("\nbackhaul_engine_connections 1\n"))
        #expect(text.hasSuffix("\n# EOF\n"))
        await application.close()
    }

    @Test("the limits for all sessions of a store are kept when the engine restarts")
    func limits() async throws {
        let application = try await open()
        var limits = try await application.limits()
        #expect(limits.maximumRunningTasks == 256)
        #expect(limits.bytesPerSecond == nil)
        limits.bytesPerSecond = 1_000_000
        limits.connectionsPerOrigin = 2
        try await application.setLimits(limits)
        await application.close()
        let again = try await open()
        #expect(try await again.limits() == limits)
        await again.close()
    }

    @Test("a file, bytes and a form can be uploaded, and the events of the uploads have the responses")
    func uploads() async throws {
        let path = server.path("sent.bin")
        try Data("from a file".utf8).write(to: URL(fileURLWithPath: path))
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        // When all tasks of the session have ended, the session delivers the event `sessionFinished`. The suspended
        // task delays this event until all uploads are enqueued.
        let gate = try await session.enqueue([Request(url: server.url("absent"), startsSuspended: true)])[0].taskID
        let file = try await session.upload(.file(path, .snapshot), to: server.url("file"))
        let memory = Body.bytes(Array("from memory".utf8))
        let bytes = try await session.upload(memory, to: server.url("bytes"), method: "PATCH")
        let form = try await session.upload(
            .form([Part("title", "Grüße"), Part("photo", .file(path), mediaType: "image/png")]),
            to: server.url("form"))
        try await session.cancel(.ids(gate))
        var responseBodies: [TaskID: String] = [:]
        for event in try await events(of: session) {
            guard case .taskEnded(let ending) = event, ending.taskID != gate else { continue }
            #expect(ending.kind == .upload)
            #expect(ending.path == nil)
            #expect(ending.httpStatus == 201)
            #expect(ending.bytesSent > 0)
            responseBodies[ending.taskID] = String(decoding: ending.responseBody ?? [], as: UTF8.self)
        }
        #expect(responseBodies[file]?.hasPrefix("PUT /file ") == true)
        #expect(responseBodies[file]?.hasSuffix("from a file") == true)
        #expect(responseBodies[bytes]?.hasPrefix("PATCH /bytes ") == true)
        #expect(responseBodies[form]?.hasPrefix("POST /form multipart/form-data; boundary=") == true)
        #expect(responseBodies[form]?.contains("Grüße") == true)
        await application.close()
    }

    @Test("an object of S3 is uploaded with a signed request, with the credentials of a command")
    func objects() async throws {
        let path = server.path("sent.bin")
        try content(1_000).write(to: URL(fileURLWithPath: path))
        var configuration = SessionConfiguration(identifier: "gallery")
        configuration.rules.s3Endpoint = server.url("")
        configuration.rules.s3Region = "here"
        configuration.rules.s3CredentialCommand =
            #"echo '{"Version": 1, "AccessKeyId": "key", "SecretAccessKey": "secret"}'"#
        let application = try await open()
        let session = try await application.createSession(configuration)
        let task = try await session.upload(.file(path, .reference), to: "s3://bucket/a/b.bin")
        guard case .taskEnded(let ending)? = try await events(of: session).first else {
            Issue.record("the first event is not the end of the task")
            return
        }
        #expect(ending.taskID == task)
        #expect(ending.outcome == .succeeded(path: ""))
        let response = Data(ending.responseBody ?? [])
        #expect(response.starts(with: Data("PUT /bucket/a/b.bin ".utf8)))
        #expect(response.range(of: try Data(contentsOf: URL(fileURLWithPath: path))) != nil)
        await application.close()
    }

    @Test("a range of a resource is downloaded into a file, and a range of a file is uploaded")
    func ranges() async throws {
        let path = server.path("sent.bin")
        try Data("0123456789".utf8).write(to: URL(fileURLWithPath: path))
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var upload = Request(url: server.url("part"))
        upload.body = .file(path, .reference)
        upload.rangeStart = 7
        var download = Request(url: try server.serve("a", content(1_000)), destination: server.path("slice"))
        download.rangeStart = 100
        download.rangeSize = 50
        _ = try await session.enqueue([upload, download])
        for case .taskEnded(let ending) in try await events(of: session) where ending.kind == .upload {
            #expect(String(decoding: ending.responseBody ?? [], as: UTF8.self).hasSuffix("\n789"))
        }
        let slice = try Data(contentsOf: URL(fileURLWithPath: server.path("slice")))
        #expect(slice == content(1_000)[100..<150])
        upload.rangeStart = 10
        let error = await #expect(throws: BackhaulError.self) { try await session.enqueue([upload]) }
        #expect(error?.message.contains("10 bytes") == true)
        await application.close()
    }

    @Test("a task waits for another task, and takes its URL from the response; if that task is cancelled, it fails")
    func chains() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var first = Request(url: server.url("create"), idempotencyKey: "create", startsSuspended: true)
        first.body = .bytes([])
        var second = Request(url: server.url("placeholder"))
        second.body = .bytes(Array("second".utf8))
        second.after = [Dependency(.key("create"), url: .url)]
        let ids = try await session.enqueue([first, second]).map(\.taskID)
        let waiting = try await session.task(ids[1])
        #expect(waiting.reason?.code == .dependency)
        #expect(waiting.reason?.text.contains("task \(ids[0].rawValue)") == true)
        var third = second
        third.after = [Dependency(.id(ids[1]), ifFails: .ignore)]
        var fourth = Request(url: server.url("fourth"))
        fourth.body = .bytes([])
        fourth.startsSuspended = true
        let gate = try await session.enqueue([fourth])[0].taskID
        fourth.startsSuspended = false
        fourth.after = [Dependency(.id(gate))]
        let last = try await session.enqueue([third, fourth]).map(\.taskID)
        try await session.cancel(.ids(gate))
        try await session.resume(.ids(ids[0]))
        var endings: [TaskID: TaskEnding] = [:]
        for case .taskEnded(let ending) in try await events(of: session) { endings[ending.taskID] = ending }
        let body = String(decoding: endings[ids[1]]?.responseBody ?? [], as: UTF8.self)
        #expect(body.hasPrefix("PUT /create ") && body.hasSuffix("second"))
        #expect(endings[last[0]]?.httpStatus == 201)
        guard case .failed(let error)? = endings[last[1]]?.outcome else {
            Issue.record("\(endings)")
            return
        }
        #expect(error.status == .dependencyFailed && error.message.contains("task \(gate.rawValue)"))
        await application.close()
    }

    @Test("if a file does not have the request's checksum, the download fails with checksumMismatch")
    func checksums() async throws {
        // The SHA-256 digest of an empty file.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var right = Request(url: try server.serve("empty", Data()), destination: server.path("right"))
        right.checksum = .sha256(empty)
        var wrong = Request(url: try server.serve("full", content(10)), destination: server.path("wrong"))
        wrong.checksum = .sha256(empty)
        let ids = try await session.enqueue([right, wrong]).map(\.taskID)
        var outcomes: [TaskID: TaskEnding.Outcome] = [:]
        for event in try await events(of: session) {
            if case .taskEnded(let ending) = event { outcomes[ending.taskID] = ending.outcome }
        }
        #expect(outcomes[ids[0]] == .succeeded(path: server.path("right")))
        guard case .failed(let error) = outcomes[ids[1]] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(error.status == .checksumMismatch)
        await application.close()
    }

    @Test("all tasks of a group can be controlled together; when all of them have ended, the group has one event")
    func groups() async throws {
        let url = try server.serve("a", content(10))
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var requests = (0..<3).map { Request(url: url, destination: server.path("\($0)"), startsSuspended: true) }
        for index in 0..<2 { requests[index].group = "photos" }
        let ids = try await session.enqueue(requests).map(\.taskID)
        #expect(try await session.setPriority(Request.priorityNow, .group("photos")) == 2)
        #expect(try await session.setRate(1_000_000, .group("photos")) == 2)
        #expect(try await session.task(ids[0]).group == "photos")
        #expect(try await session.cancel(.ids(ids[0])) == 1)
        #expect(try await session.resume(.all) == 2)
        let endings = try await events(of: session).compactMap { event -> GroupEnding? in
            if case .groupFinished(let ending) = event { ending } else { nil }
        }
        #expect(endings.map(\.group) == ["photos"])
        #expect(endings.first?.succeeded == 1)
        #expect(endings.first?.cancelled == 1)
        await application.close()
    }

    @Test("after a task's event is acknowledged, the task's attempts and their measurements are still listed")
    func attempts() async throws {
        let url = try server.serve("a", content(1000))
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let task = try await session.download(url, to: server.path("a"))
        _ = try await events(of: session)
        let attempts = try await session.attempts(task)
        #expect(attempts.map(\.number) == [1])
        let attempt = try #require(attempts.first)
        #expect(attempt.next == .end && attempt.error == nil && attempt.httpStatus == 200)
        #expect(attempt.responseBodyBytes == 1000 && attempt.endOffset == 1000)
        #expect(attempt.networkProtocol == "http/1.1" && attempt.remotePort == server.port)
        #expect(attempt.tlsVersion == nil && attempt.secureConnection == nil)
        #expect(try #require(attempt.responseStart) <= #require(attempt.responseEnd))
        let (history, more) = try await session.history()
        #expect(history.map(\.id) == [task] && !more)
        let all = try await session.attempts([task, TaskID(rawValue: 99)])
        #expect(all == [task: attempts])
        #expect(try await session.waits([task]) == [:])
        #expect(history.first?.state == .succeeded && history.first?.path == server.path("a"))
        #expect(history.first?.endedMilliseconds != nil)
        await application.close()
    }

    @Test("the records of many tasks are read in parts")
    func recordsInParts() {
        let tasks = (1...2500).map { TaskID(rawValue: $0) }
        var records = RecordsByTask<TaskID>(tasks.reversed())
        var parts: [Int] = []
        while let ids = records.next {
            // Each reply has the records of at most 700 tasks. Only even tasks have records.
            parts.append(ids.count)
            let found = ids.prefix(700).filter { $0.rawValue.isMultiple(of: 2) }
            records.add(found + found, more: ids.count > 700) { $0 }
        }
        #expect(parts == [1000, 1000, 1000, 400])
        #expect(
            records.found
                == Dictionary(uniqueKeysWithValues: tasks.filter { $0.rawValue % 2 == 0 }.map { ($0, [$0, $0]) }))
    }

    @Test("a request with two contradictory fields is refused, and the error names both fields")
    func contradictions() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        var request = Request(url: server.url("a"), destination: server.path("a"))
        request.policy = Policy()
        request.policy?.rules.maximumSize = 1
        request.expectedSize = 2
        do {
            _ = try await session.enqueue([request])
            Issue.record("It was taken.")
        } catch let error as BackhaulError {
            #expect(error.status == .invalidArgument)
            #expect(error.message.contains("maximumSize") && error.message.contains("expectedSize"))
        }
        await application.close()
    }
}
