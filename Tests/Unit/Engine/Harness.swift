import BackhaulClient
import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

/// A store (the library's data directory) in a temporary directory, which `deinit` removes.
final class TestStore: Sendable {
    let path: String
    var files: String { path + "/files" }
    var store: String { path + "/store" }

    init() throws {
        var template = Array("/tmp/backhaul-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError.last("cannot make a directory") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        mkdir(files, 0o700)
    }

    deinit { remove(path) }

    private func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for name in names(in: path) { remove(path + "/" + name) }
        rmdir(path)
    }

    func names(in directory: String) -> [String] {
        ((try? DirectoryReader.textNames(in: directory)) ?? []).sorted()
    }

    func bytes(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    func open(_ application: String = "org.example.test") throws -> ApplicationClient {
        try ApplicationClient.open(
            ApplicationOptions(application: application, storePath: store, hosting: .embedded),
            until: .ofTests)
    }

    /// Writes a file to upload.
    func file(_ name: String, _ bytes: [UInt8]) throws -> BodyFile {
        let path = files + "/" + name
        let stream = fopen(path, "w")
        fwrite(bytes, 1, bytes.count, stream)
        fclose(stream)
        return try BodyCheck.check(path: path)
    }

    func request(_ url: String, _ name: String, key: String? = nil) throws -> Request {
        var request = Request(url: url)
        var checker = DestinationCheck()
        request.destination = try checker.check(path: files + "/" + name, ifExists: .fail)
        request.idempotencyKey = key
        return request
    }
}

extension Deadline {
    /// A deadline for waits in tests. Even on a busy machine, only a defect can exceed this deadline.
    static var ofTests: Deadline { .after(milliseconds: 180_000) }
}

/// Waits for the outcome of the ticket's command. A *ticket* stands for a command that was sent to the engine. Throws
/// the command's failure.
func outcome(_ ticket: Ticket) throws -> Ticket.Outcome {
    let outcome = try #require(ticket.wait(until: .ofTests))
    if case .reply(.failed(let failure)) = outcome { throw failure }
    return outcome
}

/// Waits for the engine's reply to the ticket's command. Throws the command's failure.
func reply(_ ticket: Ticket) throws -> Reply {
    guard case .reply(let reply) = try outcome(ticket) else { throw Unexpected() }
    return reply
}

func session(_ ticket: Ticket) throws -> SessionClient {
    guard case .session(let session, _) = try outcome(ticket) else { throw Unexpected() }
    return session
}

func enqueue(_ session: SessionClient, _ requests: [Request]) throws -> [Enqueued] {
    guard case .enqueued(let items, let failure) = try outcome(session.enqueue(requests)) else { throw Unexpected() }
    if let failure { throw failure }
    return Array(items)
}

func waitRecords(of task: TaskID, in session: SessionClient) throws -> [WaitRecord] {
    guard case .waits(let waits, _) = try reply(session.submit { .waits($0, task) }) else { throw Unexpected() }
    return waits
}

/// Reads events until all tasks of the session have ended (the end of the *round*). Acknowledges no event. Returns all
/// events.
func eventsOfRound(_ session: SessionClient) throws -> [Event] {
    var events: [Event] = []
    let deadline = Deadline.ofTests
    while !deadline.hasPassed {
        let ticket = session.poll(after: events.last?.id ?? .zero, maximum: 100, until: deadline)
        guard case .events(let more, _) = try reply(ticket) else { throw Unexpected() }
        events += more
        if events.last?.kind == .sessionFinished { return events }
    }
    throw Unexpected()
}

/// Reads the progress until its newest reading has this state, or until `Deadline.ofTests`. Returns this reading.
func progress(of session: SessionClient, until state: TaskState) throws -> Progress? {
    var last: Progress?
    let deadline = Deadline.ofTests
    while last?.state != state, !deadline.hasPassed {
        last = try session.pollProgress(until: deadline).last ?? last
    }
    return last
}

struct Unexpected: Error {}

/// Evaluates the condition until it is true. Returns false when `Deadline.ofTests` has passed.
func waitUntil(_ condition: () -> Bool) -> Bool {
    let deadline = Deadline.ofTests
    while !deadline.hasPassed {
        if condition() { return true }
        usleep(2_000)
    }
    return false
}

func isReadable(_ descriptor: Int32) -> Bool {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&item, 1, 0) == 1
}

func ended(_ event: Event) -> EndedTask? {
    if case .taskEnded(let task) = event.kind { task } else { nil }
}

func pattern(_ count: Int, _ seed: UInt8 = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) &+ seed }
}
