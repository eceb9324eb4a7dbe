import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@Suite("Uploads, from enqueue to the event")
struct UploadTests {
    let store: TestStore
    let origin: UploadOrigin

    init() throws {
        store = try TestStore()
        origin = try UploadOrigin()
    }

    /// Enqueues the request in a new session. Returns the ended task.
    func run(_ request: Request, _ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> EndedTask {
        let application = try store.open()
        defer { application.close() }
        var configuration = SessionConfiguration(identifier: "s")
        configuration.firstRetryDelayMilliseconds = 1
        change(&configuration)
        let session = try session(application.createSession(configuration, .consume))
        _ = try enqueue(session, [request])
        let events = try eventsOfRound(session)
        #expect(events.count == 2)
        return try #require(ended(events[0]))
    }

    func upload(_ path: String, _ body: RequestBody, method: String? = nil) -> Request {
        var request = Request(url: origin.url(path))
        request.options.body = body
        request.options.method = method
        return request
    }

    @Test(
        "a file is sent by PUT with its length, and the event has the response's body",
        arguments: [0, 1, 70_000, 3_000_000])
    func file(size: Int) throws {
        let bytes = pattern(size)
        let file = try store.file("a", bytes)
        origin.script("/a", [.init(fields: "Content-Type: text/plain\r\n", body: Array("taken".utf8))])
        let task = try run(upload("/a", .file(file, .reference)))
        #expect(task.kind == .upload)
        #expect(task.outcome.state == .succeeded)
        #expect(task.outcome.path == nil)
        #expect(task.outcome.response.httpStatus == 201)
        #expect(task.outcome.response.responseBody == Array("taken".utf8))
        #expect(task.outcome.response.mediaType == "text/plain")
        #expect(task.outcome.bytesSent == UInt64(size))
        let received = try #require(origin.received.first)
        #expect(received.method == "PUT")
        #expect(received.value("content-length") == "\(size)")
        #expect(received.value("transfer-encoding") == nil)
        #expect(received.body == bytes)
        #expect(origin.received.count == 1)
    }

    @Test("a body from memory is sent with the requested method")
    func bytes() throws {
        let task = try run(upload("/b", .bytes(Array("hello".utf8)), method: "PATCH"))
        #expect(task.outcome.state == .succeeded)
        #expect(origin.received.map(\.method) == ["PATCH"])
        #expect(origin.received.first?.body == Array("hello".utf8))
    }

    @Test("a form is sent with its parts in order, and with a Content-Length")
    func form() throws {
        let photo = pattern(300_000)
        let file = try store.file("photo \"1\".jpg", photo)
        let parts = [
            FormPart(name: "title", content: .value(Array("Größe".utf8))),
            FormPart(
                name: "file\"s", content: .file(file), fileName: "photo \"1\".jpg", mediaType: "image/jpeg"),
        ]
        let task = try run(upload("/f", .form(parts, .reference)))
        #expect(task.outcome.state == .succeeded)
        let received = try #require(origin.received.first)
        #expect(received.method == "POST")
        let type = try #require(received.value("content-type"))
        #expect(type.hasPrefix("multipart/form-data; boundary="))
        let boundary = "--" + type.dropFirst("multipart/form-data; boundary=".count)
        let head =
            "\(boundary)\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nGröße\r\n\(boundary)\r\n"
            + "Content-Disposition: form-data; name=\"file%22s\"; filename=\"photo %221%22.jpg\"\r\n"
            + "Content-Type: image/jpeg\r\n\r\n"
        #expect(received.body == Array(head.utf8) + photo + Array("\r\n\(boundary)--\r\n".utf8))
        #expect(received.value("content-length") == "\(received.body.count)")
    }

    /// `store.file` writes the file, and returns its properties, such as its size. The second call changes the file.
    @Test("if a file changes before its upload is enqueued, the upload fails with `bodyChanged` and sends nothing")
    func changedBefore() throws {
        let file = try store.file("c", pattern(10))
        _ = try store.file("c", pattern(11))
        let task = try run(upload("/c", .file(file, .reference)))
        #expect(task.outcome.failure?.status == .bodyChanged)
        #expect(origin.received.isEmpty)
    }

    @Test("an upload whose file changes during the transfer fails before the last byte is sent")
    func changedMeanwhile() throws {
        let file = try store.file("d", pattern(4_000_000))
        let path = file.path
        origin.script(
            "/d",
            [
                .init(meanwhile: {
                    let stream = fopen(path, "r+")
                    fseek(stream, 3_900_000, SEEK_SET)
                    fputc(7, stream)
                    fclose(stream)
                })
            ])
        let task = try run(upload("/d", .file(file, .reference)))
        #expect(task.outcome.failure?.status == .bodyChanged)
        #expect(waitUntil { origin.received.count == 1 })
        #expect((origin.received.first?.body.count ?? 0) < 4_000_000)
    }

    @Test("the upload of a missing file fails with the status `bodyUnavailable`")
    func gone() throws {
        let file = try store.file("g", pattern(10))
        unlink(file.path)
        #expect(try run(upload("/g", .file(file, .reference))).outcome.failure?.status == .bodyUnavailable)
    }

    @Test("after a lost connection, the whole body is sent again")
    func broken() throws {
        let bytes = pattern(2_000_000)
        origin.script("/e", [.init(breakAfter: 1_000_000)])
        let task = try run(upload("/e", .file(try store.file("e", bytes), .reference)))
        #expect(task.outcome.state == .succeeded)
        #expect(origin.received.last?.body == bytes)
        #expect(task.outcome.attempts == 2)
        #expect(task.outcome.bytesSent > 2_000_000)
    }

    @Test("a POST whose connection breaks is retried only if the request allows retries of unsafe methods")
    func unsafe() throws {
        let body = RequestBody.bytes(pattern(100))
        origin.script("/u", [.init(breakAfter: 100)])
        let first = try run(upload("/u", body, method: "POST"))
        #expect(first.outcome.failure?.status == .connectionLost)
        #expect(origin.received.count == 1)
        origin.script("/v", [.init(breakAfter: 100)])
        var request = upload("/v", body, method: "POST")
        request.options.policy.retriesUnsafeMethods = true
        let application = try store.open("org.example.other")
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        _ = try enqueue(session, [request])
        #expect(ended(try eventsOfRound(session)[0])?.outcome.state == .succeeded)
    }

    @Test("an error status fails the upload, and the outcome has the start of the response's body")
    func refused() throws {
        origin.script("/r", [.init(status: 403, body: Array("not here".utf8))])
        let task = try run(upload("/r", .bytes([1, 2, 3])))
        #expect(task.outcome.failure?.status == .httpStatus)
        #expect(task.outcome.response.httpStatus == 403)
        #expect(task.outcome.response.errorBody == Array("not here".utf8))
        #expect(task.outcome.response.responseBody == nil)
    }

    @Test("a large body is not sent if the server responds with 403 instead of the interim response 100 (Continue)")
    func expectation() throws {
        origin.script("/x", [.init(status: 403, isEarly: true)])
        let task = try run(upload("/x", .file(try store.file("x", pattern(3_000_000)), .reference)))
        #expect(task.outcome.response.httpStatus == 403)
        #expect(task.outcome.bytesSent == 0)
        #expect(origin.received.first?.value("expect") == "100-continue")
    }

    @Test("if a server ignores Expect, the body is sent without an interim response 100 (Continue)")
    func unawareOfExpect() throws {
        origin.script("/y", [.init(ignoresExpect: true)])
        let bytes = pattern(2_000_000)
        let task = try run(upload("/y", .file(try store.file("y", bytes), .reference)))
        #expect(task.outcome.state == .succeeded)
        #expect(origin.received.map(\.body) == [bytes])
    }

    @Test("after a server has ignored Expect, later requests to its origin have no such field")
    func ignoredExpectation() throws {
        let bytes = pattern(2_000_000)
        let application = try store.open()
        defer { application.close() }
        for name in ["v", "w"] {
            origin.script("/" + name, [.init(ignoresExpect: true)])
            let session = try session(application.createSession(SessionConfiguration(identifier: name), .consume))
            _ = try enqueue(session, [upload("/" + name, .file(try store.file(name, bytes), .reference))])
            _ = try eventsOfRound(session)
        }
        #expect(origin.received.map { $0.value("expect") } == ["100-continue", nil])
        #expect(origin.received.map(\.body) == [bytes, bytes])
    }

    @Test("if a server refuses a body after more than a second, later requests to its origin still have Expect")
    func lateRefusal() throws {
        let application = try store.open()
        defer { application.close() }
        for name in ["v", "w"] {
            origin.script("/" + name, [.init(status: 403, ignoresExpect: true)])
            let session = try session(application.createSession(SessionConfiguration(identifier: name), .consume))
            _ = try enqueue(
                session, [upload("/" + name, .file(try store.file(name, pattern(2_000_000)), .reference))])
            _ = try eventsOfRound(session)
        }
        #expect(origin.received.map { $0.value("expect") } == ["100-continue", "100-continue"])
    }

    @Test("after a response with status 417, the request is sent without Expect, in the same attempt")
    func expectationFailed() throws {
        origin.script("/z", [.init(status: 417, isEarly: true)])
        let bytes = pattern(2_000_000)
        let task = try run(upload("/z", .file(try store.file("z", bytes), .reference)))
        #expect(task.outcome.state == .succeeded)
        #expect(task.outcome.attempts == 1)
        #expect(origin.received.map { $0.value("expect") } == ["100-continue", nil])
        #expect(origin.received.last?.body == bytes)
    }

    struct Followed: Sendable {
        var status: Int
        var method: String
        var then: String
        var keepsBody: Bool
    }

    @Test(
        "a redirect keeps or changes method and body as RFC 9110 specifies",
        arguments: [
            Followed(status: 301, method: "POST", then: "GET", keepsBody: false),
            Followed(status: 302, method: "POST", then: "GET", keepsBody: false),
            Followed(status: 303, method: "POST", then: "GET", keepsBody: false),
            Followed(status: 303, method: "PUT", then: "GET", keepsBody: false),
            Followed(status: 301, method: "PUT", then: "PUT", keepsBody: true),
            Followed(status: 302, method: "PATCH", then: "PATCH", keepsBody: true),
            Followed(status: 307, method: "POST", then: "POST", keepsBody: true),
            Followed(status: 308, method: "PUT", then: "PUT", keepsBody: true),
        ])
    func redirected(_ case: Followed) throws {
        let bytes = pattern(400_000)
        origin.script("/from", [.init(status: `case`.status, fields: "Location: /to\r\n")])
        var request = upload("/from", .file(try store.file("r", bytes), .reference), method: `case`.method)
        request.headers = [HeaderField("Content-Type", "image/png"), HeaderField("X-Mine", "yes")]
        let task = try run(request)
        #expect(task.outcome.state == .succeeded)
        let last = try #require(origin.received.last)
        #expect(last.path == "/to" && last.method == `case`.then)
        #expect(last.body == (`case`.keepsBody ? bytes : []))
        #expect(last.value("content-type") == (`case`.keepsBody ? "image/png" : nil))
        #expect(last.value("x-mine") == "yes")
    }

    @Test("a download by POST sends a body and writes a file")
    func downloadWithBody() throws {
        origin.script("/q", [.init(status: 200, fields: "ETag: \"1\"\r\n", body: pattern(5_000))])
        var request = try store.request(origin.url("/q"), "q")
        request.options.method = "POST"
        request.options.body = .bytes(Array("query".utf8))
        let task = try run(request)
        #expect(task.kind == .download)
        #expect(task.outcome.state == .succeeded)
        #expect(store.bytes(of: store.files + "/q") == pattern(5_000))
        #expect(origin.received.first?.body == Array("query".utf8))
    }
}
