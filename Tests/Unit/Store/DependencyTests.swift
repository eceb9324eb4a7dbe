import BackhaulModel
import Testing

@testable import BackhaulStore

/// Resolves references of the tests: absolute URLs, and paths.
private let resolver = URLResolver { (reference, base) throws(Failure) in
    guard reference.contains("://") || reference.hasPrefix("/") else {
        throw Failure(.invalidArgument, "the URL cannot be read")
    }
    let parts = (reference.contains("://") ? reference : base).split(separator: "/", omittingEmptySubsequences: false)
    let (scheme, server) = (String(parts[0].dropLast()), String(parts[2]))
    let url = reference.contains("://") ? reference : "\(scheme)://\(server)\(reference)"
    return (url, Origin(scheme: scheme, server: server, port: scheme == "https" ? 443 : 80))
}

@Suite("Tasks that wait for other tasks")
struct DependencyTests {
    private let scratch = Scratch()

    private func store() throws -> TestStore { try TestStore(scratch.path, resolver: resolver) }

    private func upload(_ number: Int, after dependencies: [Dependency] = [], key: String? = nil) -> Request {
        var request = Request(url: "https://example.org/files/\(number)")
        request.idempotencyKey = key
        request.headers = [HeaderField("X-Own", "1")]
        request.options.body = .bytes([])
        request.options.dependencies = dependencies
        return request
    }

    private func dependency(
        on task: TaskID, url: String? = nil, body: String? = nil, headers: [HeaderField] = [],
        ifFails: DependencyFailure = .fail
    ) -> Dependency {
        var dependency = Dependency(.id(task))
        (dependency.url, dependency.body, dependency.headers) = (url, body, headers)
        dependency.ifFails = ifFails
        return dependency
    }

    private func success(_ body: String = "", _ headers: [HeaderField] = []) -> Outcome {
        var outcome = Outcome(state: .succeeded)
        outcome.response.finalURL = "https://example.org/files/1"
        outcome.response.headers = headers
        outcome.response.responseBody = Array(body.utf8)
        return outcome
    }

    private func isReady(_ task: TaskID, in store: TestStore) throws -> Bool {
        try store.run { try $0.tables.delays.readyPlace(of: task) != nil }
    }

    private func ended(_ session: SessionID, in store: TestStore) throws -> [TaskID: Outcome] {
        let ends = try store.events(of: session).compactMap(\.task)
        return Dictionary(uniqueKeysWithValues: ends.map { ($0.id, $0.outcome) })
    }

    @Test("a task waits until all its predecessors have succeeded, and its listing names the one that it waits for")
    func waits() throws {
        let store = try store()
        let session = try store.session()
        let ids = try store.enqueue([upload(1), upload(2)], in: session)
        var request = upload(3, after: ids.map { dependency(on: $0) })
        request.priority = 7
        let task = try store.enqueue([request], in: session)[0]
        let listed = try #require(try store.tasks(of: session).first { $0.id == task })
        #expect(listed.reason == .dependency)
        #expect(listed.reasonText?.contains("task \(ids[0].rawValue)") == true)
        #expect(try store.end(ids[0], success())?.released == [])
        #expect(try isReady(task, in: store) == false)
        let change = try #require(try store.end(ids[1], success()))
        #expect(change.released.count == 1 && change.priority == 7)
        #expect(try isReady(task, in: store))
        #expect(try store.info(session)?.liveTasks == 1)
    }

    @Test("a task that waits for a suspended task does not keep a daemon running")
    func daemon() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        try store.enqueue([upload(2, after: [dependency(on: first)])], in: session)
        #expect(try store.run { try $0.lanes.anyStarts() })
        try store.control(session, .suspend, TaskSelection(ids: [first]))
        #expect(try store.run { try !$0.lanes.anyStarts() })
    }

    @Test("a value is taken when the predecessor ends, so its event can be acknowledged before the task starts")
    func values() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let takes = dependency(
            on: first, url: "json:/parts/0/url", body: "json:/a~1b",
            headers: [HeaderField("X-Token", "header:X-Given")])
        let task = try store.enqueue([upload(2, after: [takes])], in: session)[0]
        let body = #"{"parts": [{"url": "https://other.example/put"}], "a/b": "text", "number": 5}"#
        try store.end(first, success(body, [HeaderField("x-given", "secret")]))
        try store.acknowledge(session, .through(store.events(of: session)[0].id))
        let record = try #require(try store.run { try $0.tasks.find(task) })
        #expect(record.task.request.url == "https://other.example/put")
        #expect(record.task.origin.server == "other.example")
        #expect(record.task.request.isCrossOrigin)
        #expect(record.task.request.headers == [HeaderField("X-Token", "secret")])
        #expect(record.task.request.options.body == .bytes(Array("text".utf8)))
    }

    @Test("a URL of the same origin keeps the request's own headers")
    func sameOrigin() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let takes = dependency(on: first, url: "header:Location")
        let task = try store.enqueue([upload(2, after: [takes])], in: session)[0]
        try store.end(first, success("", [HeaderField("Location", "/uploads/7")]))
        let request = try #require(try store.run { try $0.tasks.find(task)?.task.request })
        #expect(request.url == "https://example.org/uploads/7" && !request.isCrossOrigin)
        #expect(request.headers == [HeaderField("X-Own", "1")])
    }

    @Test(
        "a response without the value, or with a value that cannot be used, fails the task",
        arguments: [
            ("header:Location", "", [HeaderField]()),
            ("header:A", "", [HeaderField("A", "/a"), HeaderField("A", "/b")]), ("json:/url", #"{"url": ""}"#, []),
            ("json:/url", "no JSON", []), ("json:/url", #"{"url": {"a": 1}}"#, []),
            ("json:/url", #"{"url": "/a"} x"#, []), ("json:/url", #"{"url": null}"#, []),
            ("json:/url", #"{"url": "nothing that can be resolved"}"#, []),
            ("json:/url", #"{"url": "http://example.org/plain"}"#, []),
            ("json:/0", #"{"url": "/a"}"#, []), ("json:/url/0", #"{"url": "/a"}"#, []),
            ("json:/url", String(repeating: "[", count: 60_000), []),
        ])
    func hostile(_ place: String, _ body: String, _ headers: [HeaderField]) throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let task = try store.enqueue([upload(2, after: [dependency(on: first, url: place)])], in: session)[0]
        try store.end(first, success(body, headers))
        let failure = try #require(try ended(session, in: store)[task]?.failure)
        #expect(failure.status == .badResponse)
        #expect(failure.message.contains("task \(first.rawValue)") && failure.message.contains(place))
    }

    @Test("each of many tasks takes its own value, from the response of its own predecessor")
    func manyValues() throws {
        let store = try store()
        let session = try store.session()
        let ids = try store.enqueue([upload(1), upload(2)], in: session)
        func enqueue(_ numbers: Range<Int>) throws -> [TaskID] {
            try store.enqueue(
                numbers.map { upload(10 + $0, after: [dependency(on: ids[$0 % 2], body: "json:/\($0)")]) }, in: session)
        }
        let waiting = try enqueue(0..<20)
        for (index, id) in ids.enumerated() {
            let items = (0..<40).map { "\(index + 1)\($0)" }
            try store.end(id, success("[" + items.joined(separator: ",") + "]"))
        }
        let later = try enqueue(20..<40)
        for (number, task) in (waiting + later).enumerated() {
            let request = try #require(try store.run { try $0.tasks.find(task)?.task.request })
            #expect(request.options.body == .bytes(Array("\(number % 2 + 1)\(number)".utf8)))
        }
    }

    @Test("a number in a body is taken as the server has written it")
    func numbers() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let takes = dependency(on: first, body: "json:/id", headers: [HeaderField("X-Price", "json:/prices/1")])
        let task = try store.enqueue([upload(2, after: [takes])], in: session)[0]
        try store.end(first, success(#"{"id": 18446744073709551615, "prices": [2, 1.10]}"#))
        let request = try #require(try store.run { try $0.tasks.find(task)?.task.request })
        #expect(request.options.body == .bytes(Array("18446744073709551615".utf8)))
        #expect(request.headers.contains(HeaderField("X-Price", "1.10")))
    }

    @Test(
        "a header that the response has twice is not taken, whatever its name is", arguments: ["ETag", "Link", "X-A"])
    func repeated(_ name: String) throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let takes = dependency(on: first, headers: [HeaderField("X-Taken", "header:\(name)")])
        let task = try store.enqueue([upload(2, after: [takes])], in: session)[0]
        let fields = ["a", "b"].map { ResponseField(name, $0) }
        var outcome = Outcome(state: .succeeded)
        outcome.response = ResponseSummary(
            ResponseHead(status: 200, finalURL: "https://example.org/files/1", isMultiplexed: false, fields: fields))
        try store.end(first, outcome)
        #expect(try ended(session, in: store)[task]?.failure?.status == .badResponse)
    }

    @Test("a header value with a line break is not taken")
    func lineBreak() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let takes = dependency(on: first, headers: [HeaderField("X-Token", "json:/token")])
        let task = try store.enqueue([upload(2, after: [takes])], in: session)[0]
        try store.end(first, success(#"{"token": "a\r\nX-Evil: 1"}"#))
        #expect(try ended(session, in: store)[task]?.failure?.status == .badResponse)
    }

    @Test("the end of a predecessor without success fails, cancels or releases the tasks, and the tasks after them")
    func failures() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let fails = try store.enqueue([upload(2, after: [dependency(on: first)])], in: session)[0]
        let cancels = try store.enqueue([upload(3, after: [dependency(on: first, ifFails: .cancel)])], in: session)[0]
        let runs = try store.enqueue([upload(4, after: [dependency(on: first, ifFails: .ignore)])], in: session)[0]
        let last = try store.enqueue([upload(5, after: [dependency(on: fails)])], in: session)[0]
        let change = try #require(
            try store.end(first, Outcome(state: .failed, failure: Failure(.httpStatus, "the server has no file"))))
        let ends = try ended(session, in: store)
        #expect(ends[fails]?.state == .failed && ends[fails]?.failure?.status == .dependencyFailed)
        #expect(ends[fails]?.failure?.message.contains("task \(first.rawValue)") == true)
        #expect(ends[cancels]?.state == .cancelled)
        #expect(ends[last]?.failure?.message.contains("task \(fails.rawValue)") == true)
        #expect(ends[runs] == nil)
        #expect(try isReady(runs, in: store))
        #expect(change.released.count == 1)
        #expect(change.endedDependents == [.failed, .cancelled, .failed])
        #expect(try store.info(session)?.liveTasks == 1)
    }

    @Test("if a command cancels the predecessor, the tasks after it end, too, and the round ends one time")
    func cancelled() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let second = try store.enqueue([upload(2, after: [dependency(on: first)])], in: session)[0]
        let third = try store.enqueue([upload(3, after: [dependency(on: second, ifFails: .cancel)])], in: session)[0]
        let change = try store.run { transaction in
            var selection = TaskSelection()
            selection.ids = [first]
            return try transaction.control.apply(.cancel, to: selection, of: session, running: [], now: 3_000)
        }
        #expect(change.count == 1 && change.endedDependents == [.failed, .cancelled])
        let events = try store.events(of: session)
        #expect(events.map(\.task?.id) == [first, second, third, nil])
        #expect(events.last?.kind == .sessionFinished)
    }

    @Test("a task that waits for several cancelled tasks counts one time")
    func countedOnce() throws {
        let store = try store()
        let session = try store.session()
        let cancelled = try store.enqueue([upload(1), upload(2)], in: session)
        let waits = cancelled.map { dependency(on: $0) }
        let task = try store.enqueue([upload(3, after: waits)], in: session)[0]
        let change = try store.run { transaction in
            var selection = TaskSelection()
            selection.ids = cancelled
            return try transaction.control.apply(.cancel, to: selection, of: session, running: [], now: 3_000)
        }
        #expect(change.count == 2 && change.endedDependents == [.failed])
        #expect(try ended(session, in: store)[task]?.state == .failed)
    }

    @Test("all tasks of a chain can be cancelled by one command")
    func cancelledTogether() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let second = try store.enqueue([upload(2, after: [dependency(on: first)])], in: session)[0]
        let change = try store.run { transaction in
            try transaction.control.apply(.cancel, to: TaskSelection(), of: session, running: [], now: 3_000)
        }
        #expect(change.count == 2 && change.endedDependents.isEmpty)
        #expect(try ended(session, in: store)[second]?.state == .cancelled)
    }

    @Test("a suspended task waits again for its predecessor when it is resumed")
    func resumed() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        let task = try store.enqueue([upload(2, after: [dependency(on: first)])], in: session)[0]
        for control in [TaskControl.resume, .suspend, .resume, .setAside, .resume, .setPriority(Limits.priorityNow)] {
            try store.run { transaction in
                var selection = TaskSelection()
                selection.ids = [task]
                _ = try transaction.control.apply(control, to: selection, of: session, running: [], now: 3_000)
            }
            #expect(try isReady(task, in: store) == false)
        }
        try store.end(first, success())
        #expect(try isReady(task, in: store))
    }

    @Test("a key names a task of the session, an earlier request of the same call, or a task that has succeeded before")
    func keys() throws {
        let store = try store()
        let session = try store.session()
        let requests = [upload(1, key: "create"), upload(2, after: [Dependency(.key("create"))], key: "put")]
        let ids = try store.enqueue(requests, in: session)
        #expect(try store.enqueue(requests, in: session) == ids)
        #expect(try isReady(ids[1], in: store) == false)
        try store.end(ids[0], success())
        let event = try store.events(of: session)[0].id
        try store.acknowledge(session, .ids([event]))
        let later = try store.enqueue([upload(3, after: [Dependency(.key("create"))])], in: session)[0]
        #expect(try isReady(later, in: store))
        var takes = Dependency(.key("create"))
        takes.url = "header:Location"
        #expect(refusal { try store.enqueue([upload(4, after: [takes])], in: session) }?.status == .notFound)
    }

    @Test("a task fails if it takes a body that is not known to be whole", arguments: ["body", "json:/a"])
    func incomplete(place: String) throws {
        let store = try store()
        let session = try store.session()
        let ids = try store.enqueue([upload(1), upload(2)], in: session)
        var cut = success("{\"a\": 1}")
        cut.response.isBodyIncomplete = true
        let waiting = try store.enqueue(
            [upload(3, after: [dependency(on: ids[0], body: place)]), upload(4, after: [dependency(on: ids[0])])],
            in: session)
        try store.end(ids[0], cut)
        let end = try #require(try ended(session, in: store)[waiting[0]])
        #expect(end.failure?.status == .badResponse)
        #expect(try isReady(waiting[1], in: store))
        let late = upload(5, after: [dependency(on: ids[0], body: place)])
        #expect(refusal { try store.enqueue([late], in: session) }?.status == .badResponse)
    }

    @Test("values are taken at the enqueue if the predecessor has succeeded already")
    func late() throws {
        let store = try store()
        let session = try store.session()
        let first = try store.enqueue([upload(1)], in: session)[0]
        try store.end(first, success("", [HeaderField("Location", "https://other.example/7")]))
        let task = try store.enqueue(
            [upload(2, after: [dependency(on: first, url: "header:Location")]), upload(3)], in: session)[0]
        #expect(try store.run { try $0.tasks.find(task)?.task.request.url } == "https://other.example/7")
        #expect(try isReady(task, in: store))
    }

    @Test("an enqueue that names no task, a task that has failed, or the body of a download is refused")
    func refused() throws {
        let store = try store()
        let session = try store.session()
        let download = try store.enqueue([.numbered(1)], in: session)[0]
        let failed = try store.enqueue([upload(2)], in: session)[0]
        try store.end(failed, Outcome(state: .failed, failure: Failure(.httpStatus, "the server has no file")))
        let other = try store.session("other")
        let absent = dependency(on: TaskID(rawValue: 99))
        #expect(refusal { try store.enqueue([upload(3, after: [absent])], in: session) }?.status == .notFound)
        #expect(
            refusal { try store.enqueue([upload(3, after: [dependency(on: download)])], in: other) }?.status
                == .notFound)
        #expect(
            refusal { try store.enqueue([upload(3, after: [dependency(on: failed)])], in: session) }?.status
                == .dependencyFailed)
        let takes = dependency(on: download, body: "body")
        let failure = refusal { try store.enqueue([upload(3), upload(4, after: [takes])], in: session) }
        #expect(failure?.status == .invalidArgument && failure?.index == 1)
        #expect(try store.info(session)?.liveTasks == 1)
    }

    private func refusal(_ body: () throws -> Void) -> Failure? { #expect(throws: Failure.self) { try body() } }

    @Test("after a restart of the store, a task still waits, and still takes its values")
    func restarted() throws {
        let earlier = try store()
        let session = try earlier.session()
        let first = try earlier.enqueue([upload(1)], in: session)[0]
        let task = try earlier.enqueue([upload(2, after: [dependency(on: first, url: "url")])], in: session)[0]
        earlier.close()
        let store = try store()
        #expect(try isReady(task, in: store) == false)
        try store.end(first, success())
        #expect(try store.run { try $0.tasks.find(task)?.task.request.url } == "https://example.org/files/1")
    }
}
