import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("The known representation of a file")
struct KnownRepresentationTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }
    private static let url = "https://example.org/file"
    private static let path = "/downloads/file"

    private func response(_ fields: HeaderField...) -> ResponseSummary {
        var response = ResponseSummary()
        response.httpStatus = 200
        response.finalURL = "https://cdn.example.org/file"
        response.headers = fields
        return response
    }

    private func ended(
        _ store: TestStore, _ session: SessionID, _ response: ResponseSummary, number: Int = 0, size: UInt64 = 7
    ) throws {
        let id = try store.enqueue([.numbered(number)], in: session)[0]
        try store.run { transaction in
            _ = try transaction.attempts.recordIntent(
                id, FinishIntent(device: 1, inode: 2, size: size), of: response)
            try transaction.destinations.recordRepresentation(
                of: id, at: Self.path, of: Self.url, in: session, inode: .max, size: size, modifiedNanoseconds: -1)
            _ = try transaction.endings.record(id, Outcome(state: .succeeded, path: Self.path), now: 3_000)
        }
    }

    private func known(
        _ store: TestStore, _ session: SessionID, url: String = url, path: String = path
    ) throws -> StoredRepresentation? {
        try store.run { try $0.destinations.representation(at: path, of: url, in: session) }
    }

    @Test("the validators of a response are known only for the session, destination and URL of its task")
    func version() throws {
        let other = try store.session("other")
        try ended(store, session, response(HeaderField("ETag", "W/\"a\""), HeaderField("Last-Modified", "yesterday")))
        let version = KnownRepresentation(
            entityTag: "W/\"a\"", lastModified: "yesterday", finalURL: "https://cdn.example.org/file", size: 7)
        #expect(
            try known(store, session)
                == StoredRepresentation(representation: version, inode: .max, modifiedNanoseconds: -1))
        #expect(try known(store, other) == nil)
        #expect(try known(store, session, url: Self.url + "?") == nil)
        #expect(try known(store, session, path: Self.path + "x") == nil)
    }

    @Test("a later response replaces a known representation; a response without validators removes it")
    func later() throws {
        try ended(store, session, response(HeaderField("ETag", "\"a\"")))
        try ended(store, session, response(HeaderField("ETag", "\"b\"")), number: 1, size: 8)
        #expect(try known(store, session)?.representation.entityTag == "\"b\"")
        #expect(try known(store, session)?.representation.size == 8)
        try ended(store, session, response(), number: 2)
        #expect(try known(store, session) == nil)
    }

    @Test(
        "a response with an unusable entity tag makes no known representation",
        arguments: [
            "", String(repeating: "x", count: 1_025), "\"\u{FFFD}\"", "a\u{1}",
        ])
    func unusable(_ tag: String) throws {
        try ended(store, session, response(HeaderField("ETag", tag)))
        #expect(try known(store, session) == nil)
    }

    @Test("of validators that contradict each other, none is known")
    func contradictory() throws {
        let modified = HeaderField("Last-Modified", "yesterday")
        let tags = ["\"a\"", "\"b\"", "\"a\""].map { HeaderField("ETag", $0) }
        try ended(store, session, response(tags[0], tags[1], modified))
        let found = try known(store, session)?.representation
        #expect(found?.entityTag == nil && found?.lastModified == "yesterday")
        try ended(store, session, response(tags[0], tags[2]), number: 1)
        #expect(try known(store, session)?.representation.entityTag == "\"a\"")
    }

    @Test("a checkpoint keeps the digest and content coding of a file, and a finish intent keeps the file's name")
    func facts() throws {
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        var checkpoint = Checkpoint(
            validator: Validator(entityTag: "\"a\""), finalURL: Self.url, size: 9, syncedOffset: 8, bootID: "boot")
        checkpoint.facts = RepresentationMetadata(
            digest: Checksum(.sha512, [UInt8](repeating: 0xA5, count: 64)), contentEncoding: "gzip", name: "ü")
        let intent = FinishIntent(device: 1, inode: 2, size: 9, name: "ü")
        let (written, name) = (checkpoint, intent)
        let task = try store.run { transaction in
            try transaction.attempts.recordCheckpoint(id, written)
            _ = try transaction.attempts.recordIntent(id, name)
            return try transaction.tasks.find(id)
        }
        #expect(task?.task.checkpoint == checkpoint)
        #expect(task?.task.intent == intent)
    }

    @Test("if a download had a wrong size, this fact stays recorded after a later failure of another kind")
    func mismatch() throws {
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        func fail(_ status: Status) throws -> Bool? {
            try store.run { transaction in
                try transaction.attempts.record(
                    id,
                    AttemptRecord(
                        attempts: 1, attemptsWithoutProgress: 1, bytesReceived: 0,
                        failure: Failure(status, "it broke")))
                return try transaction.tasks.find(id)?.task.hadMismatch
            }
        }
        #expect(try fail(.connectionLost) == false)
        #expect(try fail(.sizeMismatch) == true)
        #expect(try fail(.connectionLost) == true)
    }

    @Test("the digest that is recorded for a finished file is part of the outcome")
    func checksum() throws {
        let id = try store.enqueue([.numbered(0)], in: session)[0]
        let checksum = Checksum(.sha256, [UInt8](repeating: 1, count: 32))
        let outcome = try store.run { transaction in
            _ = try transaction.attempts.recordIntent(
                id, FinishIntent(device: 1, inode: 2, size: 9), of: ResponseSummary(), checksum)
            _ = try transaction.endings.record(id, Outcome(state: .succeeded), now: 3_000)
            return try transaction.tasks.find(id)?.outcome
        }
        #expect(outcome?.checksum == checksum)
    }

    @Test("several unfinished tasks may have the same directory as their destination")
    func directories() throws {
        var request = Request.numbered(0)
        request.destination = Destination(path: "/downloads/", directoryDevice: 1, directoryInode: 2)
        request.options.isNamedByServer = true
        #expect(try store.enqueue([request, request], in: session).count == 2)
    }
}
