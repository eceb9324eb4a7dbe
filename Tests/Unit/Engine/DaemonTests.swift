import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

/// The path of the daemon that was built with these tests.
private let daemonPath: String = {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/backhauld"
}()

extension TestStore {
    fileprivate func openWithDaemon(_ path: String = daemonPath) throws -> ApplicationClient {
        try ApplicationClient.open(
            ApplicationOptions(application: "org.example.test", storePath: store, hosting: .daemon(path: path)),
            until: .ofTests)
    }

    /// The id of the process that holds the store's lock.
    fileprivate var holder: Int32? {
        // The lock file is empty until the process with the lock has written its id.
        bytes(of: store + "/lock").flatMap { text in
            String(decoding: text, as: UTF8.self).split(separator: " ").first.flatMap { Int32($0) }
        }
    }

    fileprivate func endDaemon() {
        if let holder, holder != getpid() { kill(holder, SIGKILL) }
    }
}

/// Each test starts real daemons for its own store. The daemons are not children of this process.
@Suite("A daemon", .enabled(if: access(daemonPath, X_OK) == 0, "backhauld is built beside the tests"))
struct DaemonTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    @Test("the daemon that a host starts is not the host's child, and continues after the host has closed")
    func continuesAfterHost() throws {
        defer { store.endDaemon() }
        origin.serve("/a", .init(bytes: pattern(500_000), entityTag: nil))
        let application = try store.openWithDaemon()
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        _ = try enqueue(session, [try store.request(origin.url("/a"), "a")])
        let daemon = try #require(store.holder)
        #expect(daemon != getpid())
        var status: Int32 = 0
        #expect(waitpid(daemon, &status, WNOHANG) == -1)
        application.close()
        #expect(waitUntil { store.bytes(of: store.files + "/a") == pattern(500_000) })
        let again = try store.openWithDaemon()
        defer { again.close() }
        let attached = try attach(again)
        #expect(try eventsOfRound(attached).count == 2)
    }

    @Test("an idle daemon exits, and the next host starts another daemon")
    func exitsWhenIdle() throws {
        defer { store.endDaemon() }
        let application = try store.openWithDaemon()
        _ = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        let first = try #require(store.holder)
        application.close()
        #expect(waitUntil { ProcessIdentity.of(processID: first) == nil })
        let again = try store.openWithDaemon()
        defer { again.close() }
        _ = try session(again.attachSession("s", .consume))
        #expect(store.holder != first)
    }

    @Test("a daemon that is killed is replaced, and the host can still use its session")
    func killed() throws {
        defer { store.endDaemon() }
        let application = try store.openWithDaemon()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        for index in 0..<5 {
            let daemon = try #require(store.holder)
            kill(daemon, SIGKILL)
            origin.serve("/\(index)", .init(bytes: pattern(1_000), entityTag: nil))
            _ = try enqueue(session, [try store.request(origin.url("/\(index)"), "\(index)")])
            #expect(store.holder != daemon)
        }
        #expect(waitUntil { store.names(in: store.files).count == 5 })
    }

    @Test("if there is no daemon at the given path, opening a store fails with a message that names the path")
    func notFound() {
        let failure = #expect(throws: Failure.self) { _ = try store.openWithDaemon("/no/such/backhauld") }
        #expect(failure?.status == .daemonUnavailable)
        #expect(failure?.message.contains("/no/such/backhauld") == true)
    }

    @Test("if the daemon exits immediately, opening a store fails with the daemon's message")
    func complains() throws {
        mkdir(store.store, 0o700)
        let number = open(store.store + "/backhaul.sqlite3", O_RDWR | O_CREAT, 0o600)
        write(number, "this is no database, and it is long enough to be seen as none by anyone who reads it", 80)
        close(number)
        let failure = #expect(throws: Failure.self) { _ = try store.openWithDaemon() }
        #expect(failure?.status == .storeDamaged)
        #expect(failure?.message.contains("ended at once") == true)
        #expect(failure?.message.contains("database") == true)
    }

    @Test("no daemon is started while an engine in this process owns the store")
    func embeddedFirst() throws {
        let embedded = try store.open()
        defer { embedded.close() }
        let application = try store.openWithDaemon("/no/such/backhauld")
        defer { application.close() }
        #expect(store.holder == getpid())
    }

    /// Starts a daemon that reports this version, and waits until the daemon has the store's lock. Returns the daemon's
    /// process id.
    private func startDaemon(version: String) throws -> Int32 {
        let process = try DetachedProcess.start(
            program: daemonPath, arguments: ["--store", store.store, "--linger", "20000"],
            environment: ["BACKHAUL_VERSION=" + version])
        #expect(waitUntil { store.holder == process.processID })
        return process.processID
    }

    @Test(
        "an older daemon exits when a newer library connects",
        arguments: ["0.1.0/\(Versions.built.wire)", "0.1.9/1"])
    func older(version: String) throws {
        defer { store.endDaemon() }
        let first = try startDaemon(version: version)
        let application = try store.openWithDaemon()
        defer { application.close() }
        #expect(store.holder != first)
        #expect(waitUntil { ProcessIdentity.of(processID: first) == nil })
    }

    @Test("a daemon with a newer protocol is not used, and the error names both versions")
    func newer() throws {
        defer { store.endDaemon() }
        let first = try startDaemon(version: "9.0.1/77")
        let failure = #expect(throws: Failure.self) { _ = try store.openWithDaemon() }
        #expect(failure?.status == .engineIncompatible && failure?.detail == Int64(first))
        #expect(failure?.message.contains("9.0.1") == true && failure?.message.contains("1.0.0") == true)
        #expect(store.holder == first && ProcessIdentity.of(processID: first) != nil)
    }

    @Test("a newer daemon with the same protocol is used by an older library")
    func newerOfSameProtocol() throws {
        defer { store.endDaemon() }
        let first = try startDaemon(version: "9.0.1/\(Versions.built.wire)")
        let application = try store.openWithDaemon()
        defer { application.close() }
        _ = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        #expect(store.holder == first)
    }

    @Test("an older daemon with the same protocol is used if no newer daemon is installed")
    func nothingNewer() throws {
        defer { store.endDaemon() }
        let script = store.path + "/old"
        let number = open(script, O_WRONLY | O_CREAT, 0o700)
        let text = "#!/bin/sh\nBACKHAUL_VERSION=0.1.0/\(Versions.built.wire) exec '\(daemonPath)' \"$@\"\n"
        write(number, text, text.utf8.count)
        close(number)
        defer { unlink(script) }
        let application = try store.openWithDaemon(script)
        defer { application.close() }
        _ = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
    }

    @Test("only one daemon runs, even if many hosts start a daemon at the same time")
    func once() throws {
        defer { store.endDaemon() }
        let opened = Lock<[ApplicationClient]>([])
        let threads = try (0..<12).map { [store] _ in
            try Thread(name: "host") {
                guard let application = try? store.openWithDaemon() else { return }
                opened.withLock { $0.append(application) }
            }
        }
        for thread in threads { thread.join() }
        let applications = opened.withLock { $0 }
        #expect(applications.count == 12)
        for application in applications { application.close() }
    }
}

private func attach(_ application: ApplicationClient) throws -> SessionClient {
    try session(application.attachSession("s", .consume))
}
