import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

@Suite("Download tasks", .timeLimit(.minutes(10)))
struct DownloadTests {
    @Test("the delegate gets the file before didCompleteWithError; after didCompleteWithError, the file is removed")
    func download() async throws {
        let bytes = content(300_000)
        _ = try World.server.serve("picture.jpg", bytes)
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("download"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("picture.jpg"))
        #expect(task.state == .suspended)
        task.taskDescription = "Пиксел"
        task.resume()
        session.finishTasksAndInvalidate()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        guard case .file(let first, let content, let location) = messages.first,
            case .completed(let second, let error) = messages.dropFirst().first
        else {
            Issue.record("\(messages)")
            return
        }
        #expect(messages.count == 3)
        #expect(task.engineTaskIdentifier != nil)
        #expect(first == task.taskIdentifier)
        #expect(content == bytes)
        #expect(second === task)
        #expect(error == nil)
        #expect(task.state == .completed)
        #expect(task.taskDescription == "Пиксел")
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(task.countOfBytesReceived == 300_000)
        #expect(task.progress.isFinished)
        #expect(!FileManager.default.fileExists(atPath: location.path))
    }

    @Test("if the delegate moves a downloaded file, the file is not removed")
    func moved() async throws {
        _ = try World.server.serve("moved.jpg", content(10))
        let recorder = Recorder(movingTo: World.server.folder.path)
        let session = BackgroundURLSession(
            configuration: World.configuration("moved"), delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try World.url("moved.jpg")).resume()
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        session.invalidateAndCancel()
        _ = await recorder.messages { if case .invalid = $0 { true } else { false } }
        #expect(try Data(contentsOf: World.server.folder.appendingPathComponent("moved.jpg")) == content(10))
    }

    @Test("a download of a 404 page fails with badServerResponse, and the task has the response")
    func notFound() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("404"), delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try World.url("absent")).resume()
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.error?.code == .badServerResponse)
        #expect((ended.task.response as? HTTPURLResponse)?.statusCode == 404)
        #expect(ended.task.errorBody?.isEmpty == false)
        #expect((ended.error?.userInfo[NSUnderlyingErrorKey] as? BackhaulError)?.status == .httpStatus)
        session.invalidateAndCancel()
    }

    @Test("a request is sent with the session's headers; a header of the request replaces the session's header")
    func headers() async throws {
        let configuration = World.configuration("headers")
        configuration.httpAdditionalHeaders = ["X-Session": "session", "x-task": "session"]
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try World.url("headers"))
        request.setValue("task", forHTTPHeaderField: "X-Task")
        session.downloadTask(with: request).resume()
        let messages = await recorder.messages { if case .file = $0 { true } else { false } }
        guard case .file(_, let content?, _) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        let text = String(decoding: content, as: UTF8.self)
        #expect(text.contains("X-Session: session\n"))
        #expect(text.contains("X-Task: task\n"))
        #expect(!text.contains("x-task"))
        session.invalidateAndCancel()
    }

    @Test("headers that the library always sets itself are ignored in requests and in configurations")
    func ignoredHeaders() async throws {
        let configuration = World.configuration("ignored-headers")
        configuration.httpAdditionalHeaders = ["accept-encoding": "br", "X-Session": "session"]
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try World.url("headers"))
        for name in ["Accept-Encoding", "Content-Length", "Host", "Connection"] {
            request.setValue("7", forHTTPHeaderField: name)
        }
        session.downloadTask(with: request).resume()
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        guard case .file(_, let content?, _) = messages.first else {
            Issue.record("\(messages)")
            return
        }
        let text = String(decoding: content, as: UTF8.self)
        #expect(text.contains("X-Session: session\n") && !text.contains(": 7\n") && !text.contains("br\n"))
        session.invalidateAndCancel()
    }

    @Test("a task's response has all header fields, and fields with the same name are combined")
    func answerHeaders() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("answer-headers"), delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try World.url("headers")).resume()
        let ended = try #require(await recorder.untilCompleted())
        let response = try #require(ended.task.response as? HTTPURLResponse)
        #expect(response.value(forHTTPHeaderField: "x-own") == "one, two")
        #expect(response.value(forHTTPHeaderField: "Server")?.isEmpty == false)
        #expect(response.value(forHTTPHeaderField: "Content-Type") == "text/plain")
        #expect(response.expectedContentLength == ended.task.countOfBytesReceived)
        session.invalidateAndCancel()
    }

    @Test(
        "if a download's request is not supported, didCompleteWithError has the error that Apple's sessions have",
        arguments: [("ftp", URLError.unsupportedURL), ("GET", .dataLengthExceedsMaximum), ("POST", .unsupportedURL)])
    func refused(what: String, code: URLError.Code) async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("refused-\(what)"), delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try World.url("a"))
        switch what {
        case "ftp": request.url = URL(string: "ftp://example.org/a")
        case "GET": request.httpBody = Data("body".utf8)
        default:
            request.httpMethod = what
            request.httpBodyStream = InputStream(data: Data("body".utf8))
        }
        let task = session.downloadTask(with: request)
        task.resume()
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === task)
        #expect(ended.error?.code == code)
        #expect(await session.allTasks.isEmpty)
        session.invalidateAndCancel()
    }

    @Test(
        "a download is sent with the method and the body of its request",
        arguments: [("POST", "body"), ("DELETE", nil)])
    func methods(method: String, body: String?) async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("method-\(method)"), delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: try World.url("in/7"))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        session.downloadTask(with: request).resume()
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        guard case .file(_, let content?, let location) = messages.first, case .completed(_, nil) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect(String(decoding: content, as: UTF8.self) == "\(method) /in/7 None\n\(body ?? "")")
        session.finishTasksAndInvalidate()
        _ = await recorder.messages { if case .invalid = $0 { true } else { false } }
        #expect(!FileManager.default.fileExists(atPath: location.path))
    }

    @Test("the file of another API's task is not removed, even if it has the name of this module's own files")
    func otherFile() async throws {
        let name = "other-file"
        _ = try World.server.serve(name, content(10))
        let (recorder, path) = (Recorder(), World.server.path("download-77"))
        let session = BackgroundURLSession(
            configuration: World.configuration(name), delegate: recorder, delegateQueue: nil)
        // The listing opens the session.
        #expect(await session.allTasks.isEmpty)
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let other = try await application.attachSession(name, role: .produce)
        // The key gives the task the identifier 77.
        let request = Request(url: World.server.url(name), destination: path, idempotencyKey: "urlsession-77")
        _ = try await other.enqueue([request])
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task.taskIdentifier == 77 && ended.error == nil)
        session.finishTasksAndInvalidate()
        _ = await recorder.messages { if case .invalid = $0 { true } else { false } }
        #expect(FileManager.default.fileExists(atPath: path))
        await application.close()
    }

    @Test(
        "if the session accepts all statuses, the download of an error page succeeds, as on Apple's systems",
        arguments: [("absent", 404), ("secret/a", 401)])
    func acceptedStatus(page: String, status: Int) async throws {
        let recorder = Recorder()
        let configuration = World.configuration("accepted-\(status)")
        configuration.adjustment = { $0.rules.acceptedStatuses = "200-599" }
        configuration.asksForCredentials = false
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try World.url(page)).resume()
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        guard case .file = messages.first, case .completed(let task, nil) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect((task.response as? HTTPURLResponse)?.statusCode == status)
        session.invalidateAndCancel()
    }

    @Test("a download can be cancelled before it is resumed, and while it runs")
    func cancelled() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("cancelled"), delegate: recorder, delegateQueue: nil)
        for resumes in [false, true] {
            let task = session.downloadTask(with: try World.url("slow"))
            if resumes { task.resume() }
            #expect(await session.allTasks == [task])
            task.cancel()
            let ended = try #require(await recorder.untilCompleted())
            #expect(ended.task === task)
            #expect(ended.error?.code == .cancelled)
            task.resume()
            #expect(task.state == .completed)
            #expect(await session.allTasks.isEmpty)
        }
        session.invalidateAndCancel()
    }

    @Test("a task's priority is limited to the range from 0 to 1, and NaN is ignored")
    func priority() async throws {
        let session = BackgroundURLSession(
            configuration: World.configuration("priority"), delegate: nil, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("slow"))
        task.priority = .nan
        #expect(task.priority == BackgroundURLSessionTask.defaultPriority)
        task.priority = 7
        #expect(task.priority == 1)
        session.invalidateAndCancel()
    }

    @Test("after two calls of suspend, a task stays suspended until the second call of resume")
    func nested() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("nested"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("slow"))
        task.resume()
        task.resume()
        #expect(task.state == .running)
        task.suspend()
        task.suspend()
        task.resume()
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state == .running)
        session.invalidateAndCancel()
    }
}
