import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulFleet

@Suite("A worker whose machine lacks something, or whose renewal does not finish")
struct WorkerDiskTests {
    private let fleet: TestDatabase
    private let session: SessionID
    private let server: OneFileServer
    private let directory = Scratch()

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
        server = try OneFileServer()
    }

    private func worker(leaseMilliseconds: Int64 = 30_000) throws -> BackhaulFleet.Worker {
        var options = WorkerOptions(address: fleet.address, name: "worker", directory: directory.path + "/worker")
        options.leaseMilliseconds = leaseMilliseconds
        return try #require(try BackhaulFleet.Worker(options) { false })
    }

    private static var deadline: Deadline { .after(milliseconds: 60_000) }

    private func opened(_ ticket: Ticket) throws -> SessionClient {
        guard case .session(let session, _) = ticket.wait(until: Self.deadline) else {
            throw Failure(.internal, "no session")
        }
        return session
    }

    /// Another client of the worker's local engine.
    private func localClient(_ application: String) throws -> ApplicationClient {
        try ApplicationClient.open(
            ApplicationOptions(
                application: application, storePath: directory.path + "/worker/store", hosting: .embedded),
            until: Self.deadline)
    }

    /// Enqueues tasks for these files, and waits until the local engine has ended them. The worker has not reported the
    /// ends yet.
    private func endedTasks(_ worker: BackhaulFleet.Worker, files: [String]) throws -> [TaskID] {
        let requests = files.map { name in
            var request = fleet.request(name)
            request.url = server.url + name
            return request
        }
        let tasks = try fleet.enqueue(requests, in: session).map(\.task)
        for task in tasks {
            for _ in 0..<100 where try fleet.state(of: task) != .running { try worker.step() }
        }
        let client = try localClient("backhaul.fleet.worker")
        defer { client.close() }
        let observer = try opened(client.attachSession("fleet-\(session.rawValue)", .observe))
        let deadline = Self.deadline
        var ended = 0
        while ended < tasks.count, !deadline.hasPassed {
            let listing = observer.tasks(TaskSelection(), after: .zero, maximum: 10).wait(until: deadline)
            guard case .reply(.tasks(let infos, _)) = listing else { throw Failure(.internal, "no listing") }
            ended = infos.count { $0.state == .succeeded || $0.state == .failed }
            usleep(10_000)
        }
        return tasks
    }

    /// Fills the disk, and then the local store, which can still write where its log was before.
    private func fill(_ disk: SmallDisk) throws {
        let client = try localClient("org.example.other")
        defer { client.close() }
        let other = try opened(client.createSession(SessionConfiguration(identifier: "other"), .produce))
        disk.fill()
        for size in [60_000, 100] {
            var request = Request(url: "https://example.org/file")
            request.startsSuspended = true
            request.userData = [UInt8](repeating: 1, count: size)
            while case .enqueued(_, nil) = other.enqueue([request]).wait(until: Self.deadline) {}
        }
    }

    @Test(
        "if the disk of the local store is full, a finished download does not fail", .enabled(if: SmallDisk.isAllowed))
    func finishedDownload() throws {
        let disk = try #require(SmallDisk(at: directory.path))
        let worker = try worker()
        let task = try endedTasks(worker, files: ["file"])[0]
        try fill(disk)
        for _ in 0..<3 { try? worker.step() }
        disk.empty()
        for _ in 0..<100 where try fleet.state(of: task) == .running { try? worker.step() }
        #expect(try fleet.state(of: task) == .succeeded)
        #expect(access(fleet.destinations.path + "/file", F_OK) == 0)
    }

    @Test(
        "if the disk of the local store is full, a worker puts tasks back, and claims others less and less often",
        .enabled(if: SmallDisk.isAllowed))
    func claimedTasks() throws {
        let disk = try #require(SmallDisk(at: directory.path))
        let worker = try worker(leaseMilliseconds: 3_000)
        try fill(disk)
        let requests = (0..<6).map { fleet.request("\($0)", server: "localhost:9") }
        let last = try #require(try fleet.enqueue(requests, in: session).last).task
        #expect(throws: FleetError.self) { try worker.step() }
        #expect(try fleet.state(of: last) == .queued)
        // After the first claim, the next ones are due after 1, 3 and 7 seconds.
        func runs() throws -> Int {
            let rows = try fleet.database.run("SELECT max(run) FROM backhaul.runs")
            return Int(try #require(rows.first).integer(0))
        }
        let (seconds, limit) = (Deadline.after(milliseconds: 4_000), Self.deadline)
        while try !limit.hasPassed && (!seconds.hasPassed || runs() < 2) { try? worker.step() }
        #expect(try (2...3).contains(runs()))
        disk.empty()
        let deadline = Self.deadline
        while try fleet.state(of: last) != .running, !deadline.hasPassed { try? worker.step() }
        #expect(try fleet.state(of: last) == .running)
    }

    @Test("after an error of a start, the next renewal cancels local transfers of which the worker does not know")
    func unknownTransfer() throws {
        let worker = try worker(leaseMilliseconds: 3_000)
        let running = try fleet.enqueue([fleet.request("running", server: "localhost:9")], in: session)[0].task
        for _ in 0..<100 where try fleet.state(of: running) != .running { try worker.step() }
        let client = try localClient("backhaul.fleet.worker")
        defer { client.close() }
        let local = try opened(client.attachSession("fleet-\(session.rawValue)", .produce))
        var request = Request(url: "https://localhost:9/unknown")
        request.userData = Array("\(TaskRun(task: TaskID(rawValue: 999), run: 1).text)\n/unknown".utf8)
        guard case .enqueued(_, nil) = local.enqueue([request]).wait(until: Self.deadline) else {
            throw Failure(.internal, "not enqueued")
        }
        func hasTransfer() throws -> Bool {
            let listing = local.tasks(TaskSelection(states: .live), after: .zero, maximum: 10)
            guard case .reply(.tasks(let infos, _)) = listing.wait(until: Self.deadline) else {
                throw Failure(.internal, "no listing")
            }
            return infos.contains { $0.url == request.url }
        }
        #expect(try hasTransfer())
        // The invalidated session takes no tasks, so the next start fails.
        _ = local.submit { .invalidate($0, cancelTasks: false) }.wait(until: Self.deadline)
        try fleet.enqueue([fleet.request("refused", server: "localhost:9")], in: session, sequence: 2)
        let deadline = Self.deadline
        while try hasTransfer(), !deadline.hasPassed { try? worker.step() }
        #expect(try !hasTransfer())
    }

    /// In a process of its own: its other threads cannot open files either.
    @Test("without free descriptors, a finished download waits, and other ends are reported")
    func descriptors() async {
        await #expect(processExitsWith: .success) { try WorkerDiskTests().reportWithoutDescriptors() }
    }

    func reportWithoutDescriptors() throws {
        let worker = try worker()
        let tasks = try endedTasks(worker, files: ["file", "missing"])
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_cur, 1_024)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // All descriptors are open. With a lower limit, poll(2) would fail, too.
        var opened: [Int32] = []
        repeat { opened.append(open("/dev/null", O_RDONLY | O_CLOEXEC)) } while opened.last != -1
        try? worker.step()
        for descriptor in opened.dropLast() { close(descriptor) }
        #expect(try fleet.state(of: tasks[0]) == .running)
        #expect(try fleet.state(of: tasks[1]) == .failed)
        for _ in 0..<100 where try fleet.state(of: tasks[0]) == .running { try? worker.step() }
        #expect(try fleet.state(of: tasks[0]) == .succeeded)
    }

    @Test("a file whose end is decided is not removed if the next renewal does not finish")
    func unfinishedRenewal() throws {
        let worker = try worker(leaseMilliseconds: 3_000)
        let task = try endedTasks(worker, files: ["file"])[0]
        // The worker has moved the file and has decided the end, but the reply of the database was lost.
        let live = try #require(try fleet.database.run("SELECT task, run, worker FROM backhaul.live").first)
        let path = fleet.destinations.path + "/file"
        let publication = Publication(
            live.taskRun, of: try Schema.fleet(fleet.database), destination: path, replaces: false)
        fclose(fopen(publication.temporaryPath, "w"))
        let inode = try #require(publication.temporaryInode)
        let queue = WorkerQueue(fleet.database, worker: live.text(2))
        #expect(try queue.publish(live.taskRun, Outcome(state: .succeeded, path: path), inode: inode))
        // The renewal is due, and fails before it has completed the publication.
        usleep(1_100_000)
        try fleet.database.run("ALTER TABLE backhaul.runs RENAME TO hidden")
        for _ in 0..<2 { try? worker.step() }
        #expect(publication.temporaryInode == inode)
        try fleet.database.run("ALTER TABLE backhaul.hidden RENAME TO runs")
        for _ in 0..<100 where try fleet.state(of: task) != .succeeded { try worker.step() }
        #expect(publication.destinationInode == inode)
        #expect(try fleet.database.run("SELECT run FROM backhaul.ends").map { $0.integer(0) } == [1])
    }
}

/// A server on loopback that responds with a file of four bytes, or with 404 if the URL ends with "missing".
private final class OneFileServer {
    /// The URL without the name of a file.
    let url: String
    private let listener: Int32
    private let thread: Thread

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = bind(listener, pointer, size)
                _ = listen(listener, 128)
                _ = getsockname(listener, pointer, &size)
            }
        }
        self.listener = listener
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
        thread = try Thread(name: "one-file") {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                var (head, byte): ([UInt8], UInt8) = ([], 0)
                while head.suffix(4) != [13, 10, 13, 10], recv(connection, &byte, 1, 0) == 1 { head.append(byte) }
                let isMissing = String(decoding: head, as: UTF8.self).contains("/missing ")
                let status = isMissing ? "404 Not Found" : "200 OK"
                let response = "HTTP/1.1 \(status)\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfile"
                _ = send(connection, response, response.utf8.count, Int32(MSG_NOSIGNAL))
                close(connection)
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

/// A small file system in memory, which is mounted until the object is released.
private final class SmallDisk {
    private let path: String

    static let isAllowed: Bool = {
        let scratch = Scratch()
        return SmallDisk(at: scratch.path) != nil
    }()

    init?(at path: String) {
        self.path = path
        guard mount("none", path, "tmpfs", 0, "size=16m") == 0 else { return nil }
    }

    func fill() {
        let file = open(path + "/filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let bytes = [UInt8](repeating: 1, count: 4_096)
        while write(file, bytes, bytes.count) == bytes.count {}
        close(file)
    }

    func empty() { unlink(path + "/filling") }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
