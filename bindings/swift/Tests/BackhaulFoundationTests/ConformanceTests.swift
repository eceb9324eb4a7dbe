import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

/// Background sessions behave like Foundation's URLSession. Foundation's own tests of URLSession check the same
/// behaviour. Features that background sessions do not support are not tested here.
@Suite("Behaviour of Foundation's URLSession", .timeLimit(.minutes(10)))
struct ConformanceTests {
    private struct Ended {
        let task: BackgroundURLSessionTask
        let error: URLError?
        let text: String

        var response: HTTPURLResponse? { task.response as? HTTPURLResponse }
    }

    private func end(
        _ identifier: String, _ request: URLRequest, body: String? = nil,
        _ configure: (BackgroundURLSessionConfiguration) -> Void = { _ in }
    ) async throws -> Ended {
        let recorder = Recorder()
        let configuration = World.configuration(identifier)
        configure(configuration)
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return try await end(session, recorder, request, body: body)
    }

    private func end(
        _ session: BackgroundURLSession, _ recorder: Recorder, _ request: URLRequest, body: String? = nil
    ) async throws -> Ended {
        let task: BackgroundURLSessionTask =
            if let body {
                session.uploadTask(with: request, from: Data(body.utf8))
            } else {
                session.downloadTask(with: request)
            }
        task.resume()
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        guard case .completed(task, let error) = messages.last else { throw CocoaError(.featureUnsupported) }
        var content = Data()
        for message in messages {
            if case .file(_, let data?, _) = message { content = data }
            if case .data(_, let data) = message { content = data }
        }
        return Ended(task: task, error: error, text: String(decoding: content, as: UTF8.self))
    }

    private func request(_ name: String, _ method: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try World.url(name))
        request.httpMethod = method
        return request
    }

    @Test("a download follows redirects, and the response has the last URL", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        _ = try World.server.serve("target", content(10))
        let ended = try await end("redirect-\(status)", try request("redirect/\(status)/target"))
        #expect(ended.error == nil && ended.response?.statusCode == 200)
        #expect(ended.response?.url == (try World.url("target")))
        #expect(ended.task.currentRequest?.url == (try World.url("target")))
        #expect(ended.task.originalRequest?.url == (try World.url("redirect/\(status)/target")))
    }

    @Test("a download follows a redirect to another redirect, and keeps the percent-encoded query")
    func redirectChain() async throws {
        let ended = try await end("redirect-chain", try request("redirect/302/redirect/307/in/a%20b?c=%2F&d=e%26"))
        #expect(ended.error == nil && ended.text == "GET /in/a%20b?c=%2F&d=e%26 None\n")
    }

    @Test("a download fails with httpTooManyRedirects if the redirects do not end")
    func tooManyRedirects() async throws {
        let loop = String(repeating: "redirect/302/", count: 30)
        let ended = try await end("redirect-loop", try request(loop))
        #expect(ended.error?.code == .httpTooManyRedirects)
        let last = try World.url(String(repeating: "redirect/302/", count: 10))
        expectFailing(ended.error, last)
    }

    private func expectFailing(_ error: URLError?, _ url: URL) {
        #expect(error?.failingURL == url)
        #expect(error?.userInfo["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
    }

    @Test(
        "the redirect's status decides whether a redirected upload is sent again or becomes a GET",
        arguments: [
            (303, "PUT", "GET /in/r None\n"), (307, "PUT", "PUT /in/r None\nbody"),
            (308, "POST", "POST /in/r None\nbody"),
            (302, "POST", "GET /in/r None\n"),
        ])
    func redirectedUpload(status: Int, method: String, text: String) async throws {
        let ended = try await end(
            "redirected-upload-\(status)", try request("redirect/\(status)/in/r", method), body: "body")
        #expect(ended.error == nil && ended.text == text)
    }

    @Test("an upload with an empty body is sent", arguments: ["PUT", "POST"])
    func emptyUpload(method: String) async throws {
        let ended = try await end("empty-\(method)", try request("in/empty", method), body: "")
        #expect(ended.error == nil && ended.text == "\(method) /in/empty None\n")
        #expect(ended.task.countOfBytesExpectedToSend == 0)
    }

    @Test("a cookie from a redirect's response is sent with later requests")
    func cookies() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("cookies"), delegate: recorder, delegateQueue: nil)
        let before = try await end(session, recorder, try request("headers"))
        let redirected = try await end(session, recorder, try request("redirect/302/headers"))
        let after = try await end(session, recorder, try request("headers"))
        #expect(!before.text.contains("Cookie:"))
        #expect(redirected.text.contains("Cookie: way=redirect\n") && after.text.contains("Cookie: way=redirect\n"))
        session.invalidateAndCancel()
    }

    @Test(
        "if a session stores no cookies, its requests have only the cookies of their own Cookie header",
        arguments: ["policy", "flag", "storage"])
    func noCookies(by way: String) async throws {
        var asked = try request("redirect/302/headers")
        asked.setValue("own=1", forHTTPHeaderField: "Cookie")
        let ended = try await end("no-cookies-\(way)", asked) { configuration in
            switch way {
            case "policy": configuration.httpCookieAcceptPolicy = .never
            case "flag": configuration.httpShouldSetCookies = false
            default: configuration.httpCookieStorage = nil
            }
        }
        #expect(ended.error == nil && ended.text.contains("Cookie: own=1\n"))
    }

    @Test("if a request has its own Authorization header, this header is sent, and the delegate gets no challenge")
    func ownAuthorization() async throws {
        _ = try World.server.serve("a", content(10))
        var asked = try request("secret/a")
        asked.setValue("Bearer key", forHTTPHeaderField: "Authorization")
        let ended = try await end("own-authorization", asked)
        #expect(ended.error == nil && ended.response?.statusCode == 200)
    }

    @Test("after a challenge, an upload is sent again with the delegate's credential")
    func uploadWithCredential() async throws {
        let recorder = Recorder {
            (.useCredential, URLCredential(user: "eve", password: "opensesame", persistence: .none))
        }
        let session = BackgroundURLSession(
            configuration: World.configuration("upload-credential"), delegate: recorder, delegateQueue: nil)
        let ended = try await end(session, recorder, try request("in/secret", "POST"), body: "body")
        #expect(ended.error == nil && ended.text == "POST /in/secret None\nbody")
        session.invalidateAndCancel()
    }

    @Test("if asksForCredentials is false, a task with a 401 response fails, and the task has the response")
    func refused() async throws {
        let ended = try await end("401", try request("secret/a")) { $0.asksForCredentials = false }
        #expect(ended.error?.code == .userAuthenticationRequired || ended.error?.code == .badServerResponse)
        #expect(ended.response?.statusCode == 401)
        #expect(ended.response?.value(forHTTPHeaderField: "WWW-Authenticate")?.contains("cellar") == true)
    }

    @Test("if the server sends no response within timeoutIntervalForResource, the task fails with timedOut")
    func timeout() async throws {
        let ended = try await end("never", try request("never")) { $0.timeoutIntervalForResource = 1 }
        #expect(ended.error?.code == .timedOut)
    }

    @Test("a request to a closed port fails with cannotConnectToHost, and the error has the URL")
    func noServer() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let ended = try await end("no-server", URLRequest(url: url)) { configuration in
            configuration.adjustment = { $0.retry.maximumAttempts = 1 }
        }
        #expect(ended.error?.code == .cannotConnectToHost)
        expectFailing(ended.error, url)
    }

    @Test("a request without a URL fails with unsupportedURL")
    func noURL() async throws {
        var asked = try request("a")
        asked.url = nil
        #expect(try await end("no-url", asked).error?.code == .unsupportedURL)
    }

    @Test(
        "a response whose status is not 2xx is an error, and the task has the response and the body",
        arguments: [300, 305, 306, 404, 999])
    func notAccepted(status: Int) async throws {
        let ended = try await end("status-\(status)", try request("status/\(status)")) { configuration in
            configuration.adjustment = { $0.retry.maximumAttempts = 1 }
        }
        #expect(ended.error?.code == .badServerResponse)
        #expect(ended.response?.statusCode == status && ended.task.errorBody == Data("page".utf8))
        expectFailing(ended.error, try World.url("status/\(status)"))
    }

    @Test(
        "if the configuration accepts a status, the file is the body of the response",
        arguments: [300, 305, 401, 404])
    func accepted(status: Int) async throws {
        let ended = try await end("accepted-\(status)", try request("status/\(status)")) { configuration in
            configuration.adjustment = { $0.rules.acceptedStatuses = "200-599" }
            configuration.asksForCredentials = false
        }
        #expect(ended.error == nil && ended.response?.statusCode == status && ended.text == "page")
    }

    @Test(
        "if the delegate has no credential, the task fails with userAuthenticationRequired, and has the response",
        arguments: ["secret/a", "status/401"])
    func noCredential(name: String) async throws {
        let ended = try await end("no-credential-\(name)", try request(name))
        #expect(ended.error?.code == .userAuthenticationRequired)
        #expect(ended.response?.statusCode == 401)
    }

    @Test("timeoutInterval of a request replaces timeoutIntervalForRequest, and the last attempt fails with timedOut")
    func requestTimeout() async throws {
        var asked = try request("never")
        asked.timeoutInterval = 0.5
        let ended = try await end("request-timeout", asked) { configuration in
            configuration.timeoutIntervalForRequest = 3_600
            configuration.adjustment = { $0.retry.maximumAttempts = 1 }
        }
        #expect(ended.error?.code == .timedOut)
    }

    @Test("if a redirect leads to a closed port, the last attempt fails with cannotConnectToHost")
    func redirectToClosedPort() async throws {
        let ended = try await end("nowhere", try request("nowhere")) { configuration in
            configuration.adjustment = { $0.retry.maximumAttempts = 1 }
        }
        #expect(ended.error?.code == .cannotConnectToHost)
        expectFailing(ended.error, try #require(URL(string: "http://127.0.0.1:1/")))
    }

    @Test("a response with a content coding is not decoded, and requests have no Accept-Encoding")
    func notDecoded() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("coded"), delegate: recorder)
        let headers = try await end(session, recorder, try request("headers"))
        #expect(headers.error == nil && !headers.text.lowercased().contains("accept-encoding"))
        let coded = try await end(session, recorder, try request("gzip"))
        #expect(coded.response?.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
        #expect(coded.error == nil && coded.text != "Hello World!")
        session.invalidateAndCancel()
    }

    @Test("after invalidateAndCancel, no task is listed, and the error of a task has its URL")
    func cancelled() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("listed-cancelled"), delegate: recorder)
        let tasks = [session.downloadTask(with: try World.url("slow")), session.downloadTask(with: try World.url("a"))]
        tasks[0].resume()
        #expect(await session.allTasks.count == 2)
        session.invalidateAndCancel()
        #expect(await session.allTasks.isEmpty)
        tasks[1].resume()
        #expect(await session.allTasks.isEmpty)
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        for case .completed(let task, let error) in messages {
            #expect(error?.code == .cancelled && error?.localizedDescription == "cancelled")
            expectFailing(error, try #require(task.originalRequest?.url))
        }
    }

    @Test("while a download runs, its response has the status and the size")
    func responseOfRunningTask() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("running-response"), delegate: recorder)
        let task = session.downloadTask(with: try World.url("slow"))
        task.resume()
        _ = await recorder.messages { if case .wrote = $0 { true } else { false } }
        let response = task.response as? HTTPURLResponse
        #expect(task.state == .running && response?.statusCode == 200)
        #expect(response?.expectedContentLength == 1_000_000_000)
        session.invalidateAndCancel()
    }

    @Test("copy() of a task returns the same object")
    func copied() async throws {
        let session = BackgroundURLSession(configuration: World.configuration("copied"), delegate: nil)
        let task = session.downloadTask(with: try World.url("a"))
        #expect(task.copy() as? BackgroundURLSessionDownloadTask === task)
        session.invalidateAndCancel()
        #expect(await session.allTasks.isEmpty)
    }
}
