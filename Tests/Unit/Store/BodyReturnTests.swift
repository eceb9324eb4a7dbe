import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Consumed files that must be returned")
struct BodyReturnTests {
    let store: TestStore
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
    }

    private func enqueue(_ store: TestStore) throws -> (SessionID, TaskID) {
        let session = try store.session()
        var file = BodyFile(
            path: "/home/someone/a", device: 1, inode: 2, size: 3, modifiedNanoseconds: 4)
        file.storedName = "c-1"
        file.fileSystem = "ext4 1 /"
        let ids = try store.enqueue(
            [.numbered(1) { [file] in $0.options.body = .file(file, .consume) }], in: session)
        return (session, ids[0])
    }

    private func listed(_ store: TestStore) throws -> [ReturnedBody] {
        try store.run { try $0.bodies.bodiesToReturn(after: "", limit: 9) }
    }

    private func leftovers(_ store: TestStore) throws -> [String] {
        try store.run { try $0.bodies.leftovers(limit: 9) }
    }

    private func endAndAcknowledge(
        _ store: TestStore, _ session: SessionID, _ task: TaskID, _ state: TaskState
    ) throws {
        try store.end(task, Outcome(state: state))
        let change = try store.acknowledge(session, .through(try store.events(of: session).last?.id ?? .zero))
        #expect(change.returnsBodies == (state != .succeeded))
    }

    @Test(
        "when the end of a failed or cancelled task is acknowledged, its consumed file is listed for return",
        arguments: [TaskState.failed, .cancelled])
    func listedByAcknowledgement(state: TaskState) throws {
        let (session, task) = try enqueue(store)
        try endAndAcknowledge(store, session, task, state)
        let body = ReturnedBody(name: "c-1", path: "/home/someone/a", task: task, fileSystem: "ext4 1 /")
        #expect(try listed(store) == [body] && leftovers(store) == [])
        // The engine deletes the files in the list of leftovers. So this list must not contain a file that must be
        // returned.
        try store.run { try $0.bodies.addLeftovers(among: ["c-1", "c-2"]) }
        #expect(try leftovers(store) == ["c-2"])
        try store.run { try $0.bodies.forgetReturned(["c-1"]) }
        #expect(try listed(store) == [])
    }

    @Test("the list of leftovers can be read from any name on, so files that cannot be removed do not hide others")
    func pages() throws {
        try store.run { transaction in
            try transaction.bodies.addLeftovers(among: ["c-3", "c-1", "c-2"])
            #expect(try transaction.bodies.leftovers(limit: 2) == ["c-1", "c-2"])
            #expect(try transaction.bodies.leftovers(after: "c-2", limit: 2) == ["c-3"])
        }
    }

    @Test("when the end of a successful task is acknowledged, its consumed file is listed for removal")
    func succeeded() throws {
        let (session, task) = try enqueue(store)
        try endAndAcknowledge(store, session, task, .succeeded)
        #expect(try listed(store) == [] && leftovers(store) == ["c-1"])
    }

    @Test("a consumed file is listed for return only after the engine has removed the file's old name")
    func oldName() throws {
        let (session, task) = try enqueue(store)
        let old = BodyFile(path: "/home/someone/a", device: 1, inode: 2, size: 3, modifiedNanoseconds: 4)
        try store.run { try $0.bodies.recordConsumed([old]) }
        try endAndAcknowledge(store, session, task, .failed)
        #expect(try listed(store) == [])
        try store.run { try $0.bodies.forgetConsumed([old]) }
        #expect(try listed(store).map(\.task) == [task])
    }

    @Test("an old name that must be removed is listed with its file system")
    func fileSystem() throws {
        var old = BodyFile(path: "/home/someone/a", device: 0, inode: 2, size: 3, modifiedNanoseconds: 4)
        old.fileSystem = "ext4 1 /"
        try store.run { [old] in try $0.bodies.recordConsumed([old]) }
        #expect(try store.run { try $0.bodies.consumed(limit: 9) } == [old])
        #expect(try store.run { try $0.bodies.consumed(at: ["/home/someone/a"]) } == [old])
    }

    @Test("a consumed file is not listed for return if the host has moved (claimed) it to another path")
    func claimed() throws {
        let (session, task) = try enqueue(store)
        try store.end(task, Outcome(state: .failed))
        try store.run { try $0.destinations.recordClaim(task, path: "/home/someone/b") }
        let change = try store.acknowledge(session, .through(try store.events(of: session).last?.id ?? .zero))
        #expect(try !change.returnsBodies && listed(store) == [])
    }

    @Test("nothing of a successful upload can be claimed, and the refusal says that it has no file")
    func uploaded() throws {
        let session = try store.session()
        let upload = Request.numbered(1) {
            $0.destination = nil
            $0.options.body = .bytes([1])
        }
        let task = try store.enqueue([upload], in: session)[0]
        try store.end(task)
        let failure = #expect(throws: Failure.self) {
            try store.run { try $0.destinations.checkClaim(task, session: session, path: "/home/someone/b") }
        }
        #expect(failure?.status == .wrongState && failure?.message.contains("is an upload") == true)
    }
}
