import BackhaulModel
import Testing

@testable import BackhaulStore

/// A *consumed* file is an upload's data: the engine has moved it from the host's path into the store. After a failure,
/// the engine *returns* the file to that path.
@Suite("Consumed files that must be returned")
struct BodyReturnTests {
    let scratch = Scratch()

    private func enqueue(_ store: TestStore) throws -> (SessionID, TaskID) {
        let session = try store.session()
        var file = BodyFile(
            path: "/home/someone/a", device: 1, inode: 2, size: 3, modifiedNanoseconds: 4)
        file.storedName = "c-1"
        let ids = try store.enqueue(
            [.numbered(1) { [file] in $0.options.body = .file(file, .consume) }], in: session)
        return (session, ids[0])
    }

    private func listed(_ store: TestStore) throws -> [ReturnedBody] {
        try store.run { (transaction) throws(Failure) in try transaction.bodies.bodiesToReturn(after: "", limit: 9) }
    }

    private func leftovers(_ store: TestStore) throws -> [String] {
        try store.run { (transaction) throws(Failure) in try transaction.bodies.leftovers(limit: 9) }
    }

    private func endAndAcknowledge(
        _ store: TestStore, _ session: SessionID, _ task: TaskID, _ state: TaskState
    ) throws {
        try store.end(task, Outcome(state: state))
        let change = try store.acknowledge(session, .through(try store.events(of: session).last?.id ?? .zero))
        #expect(change.returnsBodies == (state != .succeeded))
    }

    @Test(
        "after a failed or cancelled task is acknowledged, its consumed file is listed for return",
        arguments: [TaskState.failed, .cancelled])
    func listedByAcknowledgement(state: TaskState) throws {
        let store = try TestStore(scratch.path)
        let (session, task) = try enqueue(store)
        try endAndAcknowledge(store, session, task, state)
        let body = ReturnedBody(name: "c-1", path: "/home/someone/a", task: task)
        #expect(try listed(store) == [body] && leftovers(store) == [])
        // The engine removes leftovers, so a file that must be returned must not become a leftover.
        try store.run { (transaction) throws(Failure) in try transaction.bodies.addLeftovers(among: ["c-1", "c-2"]) }
        #expect(try leftovers(store) == ["c-2"])
        try store.run { (transaction) throws(Failure) in try transaction.bodies.forgetReturned(["c-1"]) }
        #expect(try listed(store) == [])
    }

    @Test("after the task of a consumed file has succeeded, the file is listed for removal")
    func succeeded() throws {
        let store = try TestStore(scratch.path)
        let (session, task) = try enqueue(store)
        try endAndAcknowledge(store, session, task, .succeeded)
        #expect(try listed(store) == [] && leftovers(store) == ["c-1"])
    }

    @Test("a consumed file is listed for return only after its old name is gone")
    func oldName() throws {
        let store = try TestStore(scratch.path)
        let (session, task) = try enqueue(store)
        let old = BodyFile(path: "/home/someone/a", device: 1, inode: 2, size: 3, modifiedNanoseconds: 4)
        try store.run { (transaction) throws(Failure) in try transaction.bodies.recordConsumed([old]) }
        try endAndAcknowledge(store, session, task, .failed)
        #expect(try listed(store) == [])
        try store.run { (transaction) throws(Failure) in try transaction.bodies.forgetConsumed([old]) }
        #expect(try listed(store).map(\.task) == [task])
    }

    @Test("a consumed file that the host has claimed is not listed for return")
    func claimed() throws {
        let store = try TestStore(scratch.path)
        let (session, task) = try enqueue(store)
        try store.end(task, Outcome(state: .failed))
        try store.run { (transaction) throws(Failure) in
            try transaction.destinations.recordClaim(task, path: "/home/someone/b")
        }
        let change = try store.acknowledge(session, .through(try store.events(of: session).last?.id ?? .zero))
        #expect(try !change.returnsBodies && listed(store) == [])
    }
}
