import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

@Suite("Upload tasks", .timeLimit(.minutes(10)))
struct UploadTests {
    private func request(_ name: String, method: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try World.url(name))
        if let method { request.httpMethod = method }
        return request
    }

    private func file(_ name: String, _ bytes: Data) throws -> URL {
        let file = World.server.folder.appendingPathComponent(name)
        try bytes.write(to: file)
        return file
    }

    @Test("an upload uses the request's method; the delegate gets the response's body before didCompleteWithError")
    func upload() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("upload"), delegate: recorder)
        let task = session.uploadTask(
            with: try request("in/1", method: "POST"), fromFile: try file("1.txt", Data("hello".utf8)))
        task.resume()
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        let data = messages.compactMap { if case .data(task.taskIdentifier, let data) = $0 { data } else { nil } }
        #expect(data.map { String(decoding: $0, as: UTF8.self) } == ["POST /in/1 None\nhello"])
        guard case .completed(let ended, nil) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect(ended === task)
        #expect((task.response as? HTTPURLResponse)?.statusCode == 201)
        #expect(task.responseBody == data.first)
        session.invalidateAndCancel()
    }

    @Test("an upload ignores the body of its request")
    func ignoredBody() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("ignored-body"), delegate: recorder)
        var request = try request("in/7", method: "POST")
        request.httpBody = Data("ignored".utf8)
        let task = session.uploadTask(with: request, fromFile: try file("7.txt", Data("sent".utf8)))
        task.resume()
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        #expect(task.responseBody.map { String(decoding: $0, as: UTF8.self) } == "POST /in/7 None\nsent")
        session.invalidateAndCancel()
    }

    @Test("if an upload's request has the default method GET, the upload is sent as PUT")
    func put() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("put"), delegate: recorder)
        let task = session.uploadTask(with: try request("in/2"), from: Data("from memory".utf8))
        task.resume()
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        #expect(task.responseBody.map { String(decoding: $0, as: UTF8.self) } == "PUT /in/2 None\nfrom memory")
        session.invalidateAndCancel()
    }

    @Test("if the response's status is not accepted, an upload fails, and the task has the response's body")
    func refused() async throws {
        let recorder = Recorder()
        let configuration = World.configuration("full")
        configuration.adjustment = { $0.retry.errors = [] }
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder)
        let task = session.uploadTask(with: try request("full"), from: Data("x".utf8))
        task.resume()
        #expect(await recorder.untilCompleted()?.error?.code == .badServerResponse)
        #expect((task.response as? HTTPURLResponse)?.statusCode == 507)
        #expect(task.errorBody?.isEmpty == false)
        session.invalidateAndCancel()
    }

    @Test("an upload that was cancelled with resume data is continued by them one time, and not by a download")
    func resumeData() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("parked-upload"), delegate: recorder)
        let first = session.uploadTask(with: try request("in/8"), fromFile: try file("8.txt", Data("sent".utf8)))
        // The task does not begin before it is cancelled.
        first.earliestBeginDate = .now + 3_600
        first.resume()
        let data = try #require(await first.cancelByProducingResumeData())
        let cancelled = try #require(await recorder.untilCompleted()?.error)
        #expect(cancelled.userInfo[BackgroundURLSessionUploadTaskResumeData] as? Data == data)
        let download = session.downloadTask(withResumeData: data)
        download.resume()
        #expect(await recorder.untilCompleted()?.error?.code == .unsupportedURL)
        let second = session.uploadTask(withResumeData: data)
        second.resume()
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === second && ended.error == nil)
        #expect(second.taskIdentifier == first.taskIdentifier)
        #expect(second.responseBody.map { String(decoding: $0, as: UTF8.self) } == "PUT /in/8 None\nsent")
        let third = session.uploadTask(withResumeData: data)
        third.resume()
        #expect(await recorder.untilCompleted()?.error?.code == .unsupportedURL)
        session.invalidateAndCancel()
    }

    @Test("if an upload ends immediately, the delegate gets one progress call", arguments: ["in/6", "full"])
    func fast(name: String) async throws {
        let recorder = Recorder()
        let configuration = World.configuration("fast-\(name)")
        configuration.adjustment = { $0.retry.errors = [] }
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder)
        let body = try file(UUID().uuidString, Data("hello".utf8))
        let task = session.uploadTask(with: try request(name), fromFile: body)
        task.resume()
        var reported: [Int64] = []
        let messages = await recorder.messages { message in
            if case .sent(task.taskIdentifier, let bytes, let total, 5) = message { reported += [bytes, total] }
            if case .completed = message { return true } else { return false }
        }
        #expect(messages.count > 0 && reported == [5, 5])
        #expect(task.countOfBytesSent == 5 && task.countOfBytesExpectedToSend == 5)
        #expect(task.progress.isFinished)
        session.invalidateAndCancel()
    }

    @Test("an upload of a file that does not exist fails with cannotOpenFile")
    func absent() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("absent"), delegate: recorder)
        session.uploadTask(with: try request("in/3"), fromFile: URL(fileURLWithPath: "/absent")).resume()
        #expect(await recorder.untilCompleted()?.error?.code == .cannotOpenFile)
        session.invalidateAndCancel()
    }

    @Test("an upload of a URL that is no file URL fails with unsupportedURL")
    func noFile() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("no-file"), delegate: recorder)
        session.uploadTask(with: try request("in/8"), fromFile: try World.url("in/8")).resume()
        #expect(await recorder.untilCompleted()?.error?.code == .unsupportedURL)
        session.invalidateAndCancel()
    }

    @Test(
        "data that are too large for the engine are refused in the words of URLSession",
        arguments: [
            (1_048_577, 0, "The body has 1048577 bytes; "), (0, 65_537, "The taskDescription has 65537 bytes; "),
        ])
    func tooLarge(body: Int, description: Int, reason: String) async throws {
        let recorder = Recorder()
        let configuration = World.configuration("too-large-\(body)")
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder)
        let task = session.uploadTask(with: try request("in/9"), from: Data(count: body))
        task.taskDescription = String(repeating: "x", count: description)
        task.resume()
        let error = await recorder.untilCompleted()?.error
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect((error?.userInfo[NSLocalizedDescriptionKey] as? String)?.hasPrefix(reason) == true)
        session.invalidateAndCancel()
    }

    @Test("the delegate gets an upload's metrics before didCompleteWithError")
    func metrics() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("metrics"), delegate: recorder)
        let task = session.uploadTask(with: try request("in/5"), from: Data("hello".utf8))
        task.resume()
        let messages = await recorder.messages { if case .metrics = $0 { true } else { false } }
        guard case .metrics(task.taskIdentifier, let metrics) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect(metrics.redirectCount == 0)
        let transaction = try #require(metrics.transactionMetrics.first)
        #expect(metrics.transactionMetrics.count == 1)
        #expect(transaction.countOfRequestBodyBytesSent == 5)
        #expect((transaction.response as? HTTPURLResponse)?.statusCode == 201)
        #expect(transaction.networkProtocolName == "http/1.1" && transaction.remotePort == World.server.port)
        #expect(transaction.isProxyConnection == false)
        let (start, end) = (try #require(transaction.fetchStartDate), try #require(transaction.responseEndDate))
        #expect(start <= end && metrics.taskInterval.start == start)
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        session.invalidateAndCancel()
    }

    @Test("an upload task is listed only among the upload tasks, not among the data tasks or download tasks")
    func listed() async throws {
        let session = BackgroundURLSession(configuration: World.configuration("listed"), delegate: nil)
        let task = session.uploadTask(with: try request("in/4"), from: Data("x".utf8))
        let (data, uploads, downloads) = await session.tasks
        #expect(data.isEmpty && downloads.isEmpty)
        #expect(uploads.map(\.taskIdentifier) == [task.taskIdentifier])
        session.invalidateAndCancel()
    }
}

/// A configuration lists a property as *unhonored* if the property has no effect.
@Suite("Configurations of background sessions", .timeLimit(.minutes(10)))
struct ConfigurationTests {
    private func isUnhonored(_ dictionary: [AnyHashable: Any]?) -> Bool {
        let configuration = BackgroundURLSessionConfiguration.background(withIdentifier: "c")
        configuration.connectionProxyDictionary = dictionary
        return configuration.unhonored.contains("connectionProxyDictionary")
    }

    @Test("a proxy dictionary is unhonored if it has several proxies, a script, or a proxy without a host name")
    func proxies() {
        let honored: [[AnyHashable: Any]?] = [
            nil, [:], ["HTTPEnable": 1, "HTTPProxy": "p", "HTTPPort": 3128], ["HTTPEnable": 0, "HTTPProxy": "p"],
            ["HTTPEnable": 1, "HTTPProxy": "p", "HTTPSEnable": true, "HTTPSProxy": "p"],
            ["SOCKSEnable": 1, "SOCKSProxy": "::1", "ExceptionsList": ["localhost"]],
        ]
        for dictionary in honored { #expect(isUnhonored(dictionary) == false, "\(dictionary ?? [:])") }
        let unhonored: [[AnyHashable: Any]] = [
            ["HTTPEnable": 1, "HTTPProxy": "p", "SOCKSEnable": 1, "SOCKSProxy": "p"], ["HTTPEnable": 1],
            ["ProxyAutoConfigEnable": 1],
        ]
        for dictionary in unhonored { #expect(isUnhonored(dictionary), "\(dictionary)") }
    }

    @Test(
        "if a number in a configuration is out of range, the session still downloads files",
        arguments: [
            (0, 0, .infinity), (1_000, .infinity, 0), (-1, -1, .nan), (256, 1e300, 1e300),
        ] as [(Int, Double, Double)])
    func clamped(connections: Int, request: Double, resource: Double) async throws {
        let name = "clamped\(connections)"
        _ = try World.server.serve(name, content(10))
        let recorder = Recorder()
        let configuration = World.configuration(name)
        configuration.httpMaximumConnectionsPerHost = connections
        configuration.timeoutIntervalForRequest = request
        configuration.timeoutIntervalForResource = resource
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder)
        session.downloadTask(with: try World.url(name)).resume()
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        session.invalidateAndCancel()
    }

    @Test("an upload is sent through the configured proxy")
    func proxied() async throws {
        let recorder = Recorder()
        let configuration = World.configuration("proxied")
        // The test's server is the proxy. The host name does not exist, so a direct request would fail.
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": World.server.port,
        ]
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder)
        var request = URLRequest(url: try #require(URL(string: "http://origin.invalid/through")))
        request.httpMethod = "PUT"
        let task = session.uploadTask(with: request, from: Data("x".utf8))
        task.resume()
        let error = await recorder.untilCompleted()?.error
        #expect(error == nil)
        let responseBody = task.responseBody.map { String(decoding: $0, as: UTF8.self) }
        #expect(responseBody?.hasPrefix("PUT http://origin.invalid/through ") == true)
        session.invalidateAndCancel()
    }
}
