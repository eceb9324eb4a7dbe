import BackhaulModel
import Glibc
import Testing

@testable import BackhaulStore

@Suite("Removed and replaced files of an open store")
struct MissingFileTests {
    let scratch = Scratch()
    private var path: String { scratch.path + "/store" }

    private func replace(_ name: String) {
        let other = scratch.path + "/other"
        close(creat(other, 0o600))
        rename(other, "\(path)/\(name)")
    }

    @Test(
        "after a file is removed or replaced, the next change fails with the file's name, and then all calls fail",
        arguments: [
            (Schema.fileName, false), (Schema.fileName, true), (Schema.walName, false), (Schema.walName, true),
        ])
    func files(name: String, isReplaced: Bool) throws {
        let store = try TestStore(path)
        let session = try store.session()
        if isReplaced { replace(name) } else { unlink("\(path)/\(name)") }
        // Before the next change, the store can still be read.
        #expect(try store.tasks(of: session).isEmpty)
        let failure = #expect(throws: Failure.self) { try store.enqueue([.numbered(1)], in: session) }
        #expect(failure?.status == .storeUnavailable && failure?.endsStore == true)
        #expect(failure?.message.contains("the file \(name) of the store") == true)
        #expect(#expect(throws: Failure.self) { try store.tasks(of: session) } == failure)
    }

    @Test("closing a store does not change the log of another database at the same path")
    func logOfAnother() throws {
        let store = try TestStore(path)
        let session = try store.session()
        for name in ["lock", Schema.fileName, Schema.walName] { unlink("\(path)/\(name)") }
        let other = try TestStore(path)
        let one = try other.session("of the other")
        store.close()
        try other.enqueue([.numbered(1)], in: one)
        #expect(try other.tasks(of: one).count == 1)
        #expect(session.rawValue == 1)
    }

    @Test("no confirmed work is lost if the store's log is removed")
    func log() throws {
        let store = try TestStore(path)
        let session = try store.session()
        try store.enqueue([.numbered(1)], in: session)
        unlink("\(path)/\(Schema.walName)")
        #expect(throws: Failure.self) { try store.enqueue([.numbered(2)], in: session) }
        store.close()
        #expect(try TestStore(path).tasks(of: session).count == 1)
    }

    @Test("if another directory takes the path of a moved store, changes fail and the contents stay")
    func directory() throws {
        let store = try TestStore(path)
        let session = try store.session()
        rename(path, path + "-moved")
        try store.enqueue([.numbered(1)], in: session)
        mkdir(path, 0o700)
        let failure = #expect(throws: Failure.self) { try store.enqueue([.numbered(2)], in: session) }
        #expect(failure?.status == .storeUnavailable)
        #expect(failure?.message.contains("another directory has its path") == true)
        store.close()
        #expect(try TestStore(path + "-moved").tasks(of: session).count == 1)
    }
}
