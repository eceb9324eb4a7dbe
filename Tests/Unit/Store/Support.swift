import BackhaulModel
import BackhaulPlatform
import Glibc

@testable import BackhaulStore

/// A temporary directory, which `deinit` removes.
final class Scratch: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/backhaul-store-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { remove(path) }

    private func remove(_ path: String) {
        guard let names = try? DirectoryReader.textNames(in: path) else {
            unlink(path)
            return
        }
        for name in names { remove("\(path)/\(name)") }
        rmdir(path)
    }
}

/// An open store. Its functions wait until the store has returned their results.
final class TestStore: Sendable {
    let directory: StoreDirectory
    let thread: StoreThread

    init(
        _ path: String, resolver: URLResolver = .none, laterMigrations: [String] = [],
        delayMilliseconds: Int64 = StoreThread.longestDelayMilliseconds
    ) throws {
        directory = try StoreDirectory.open(path: path)
        guard let lock = try directory.acquireLock() else { throw Failure(.inUse, "the test's store is locked") }
        thread = try StoreThread(
            directory: directory, lock: lock, resolver: resolver, laterMigrations: laterMigrations,
            delayMilliseconds: delayMilliseconds)
    }

    deinit { thread.close() }

    func close() { thread.close() }

    @discardableResult
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) throws -> Result {
        let completion = Lock<Swift.Result<Result, Failure>?>(nil)
        thread.perform { (transaction) throws(Failure) in
            do {
                return try body(transaction)
            } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(.internal, "\(error)")
            }
        } then: { result in
            completion.change { $0 = result }
        }
        guard let result = completion.wait(until: .after(milliseconds: 120_000), { $0 }) else {
            throw Failure(.timeout, "the store returned no result")
        }
        return try result.get()
    }

    @discardableResult
    func session(_ identifier: String = "gallery", of application: String = "org.example") throws -> SessionID {
        try run {
            try $0.sessions.create(
                application: application, configuration: SessionConfiguration(identifier: identifier), role: .produce,
                consumer: .of(1), now: 1_000
            ).id
        }
    }

    @discardableResult
    func enqueue(_ requests: [Request], in session: SessionID) throws -> [TaskID] {
        try run { transaction in
            try transaction.tasks.enqueue(requests.map { ($0, .example) }, in: session, now: 2_000).results.map(\.task)
        }
    }

    @discardableResult
    func end(_ task: TaskID, _ outcome: Outcome = Outcome(state: .succeeded)) throws -> Change? {
        try run { try $0.endings.record(task, outcome, now: 3_000) }
    }

    func events(of session: SessionID, after: EventID = .zero, maximum: Int = 1_000) throws -> [Event] {
        try run { try $0.events.poll(session, after: after, maximum: maximum).events }
    }

    @discardableResult
    func acknowledge(_ session: SessionID, _ acknowledgement: Acknowledgement) throws -> Change {
        try run { try $0.events.acknowledge(session, acknowledgement) }
    }

    func tasks(of session: SessionID, _ selection: TaskSelection = TaskSelection()) throws -> [TaskInfo] {
        try run {
            try $0.listing.tasks(
                of: session, selection, after: .zero, maximum: 1_000, running: [], bootMilliseconds: 0, now: 0
            ).tasks
        }
    }

    /// Returns the constraints of those tasks that have constraints, in the order of the tasks.
    func constraints(of tasks: [TaskID]) throws -> [StoredConstraints] {
        try tasks.compactMap { id in
            try run { transaction in
                let constraints = try transaction.tasks.find(id)?.task.constraints ?? .session
                return try transaction.constraints.stored([constraints]).first
            }
        }
    }

    func info(_ session: SessionID) throws -> SessionInfo? {
        try run { try $0.sessions.info(of: session)?.info }
    }

    @discardableResult
    func control(
        _ session: SessionID, _ control: TaskControl, _ selection: TaskSelection = TaskSelection(),
        running: Set<TaskID> = []
    ) throws -> Change {
        try run { try $0.control.apply(control, to: selection, of: session, running: running, now: 3_000) }
    }
}

extension ConsumerIdentity {
    /// Returns the identity of a consumer (a reader of a session's events) in this process.
    static func of(_ handle: UInt64, client: UInt64 = 1, process: ProcessIdentity = .current) -> ConsumerIdentity {
        ConsumerIdentity(client: ClientID(high: client, low: 7), handle: HandleID(rawValue: handle), process: process)
    }
}

extension AttemptOperations {
    /// Records the finish intent of a first attempt.
    func recordIntent(
        _ task: TaskID, _ intent: FinishIntent, of response: ResponseSummary = ResponseSummary(),
        _ checksum: Checksum? = nil
    ) throws(Failure) -> Bool {
        try recordIntent(task, intent, response: response, checksum: checksum, attempts: 1, bytesReceived: intent.size)
    }
}

extension Origin {
    static let example = Origin(scheme: "https", server: "example.org", port: 443)
}

extension Request {
    static func numbered(_ number: Int, _ change: (inout Request) -> Void = { _ in }) -> Request {
        var request = Request(url: "https://example.org/files/\(number)")
        request.destination = Destination(
            path: "/home/someone/files/\(number)", directoryDevice: 5, directoryInode: .max)
        change(&request)
        return request
    }
}

extension Event {
    var task: EndedTask? {
        if case .taskEnded(let task) = kind { task } else { nil }
    }
}

/// Calls fork(2), which Swift does not import. Tests need this call to check what a forked child inherits.
func fork() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    return unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)()
}
