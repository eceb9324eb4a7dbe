import BackhaulModel
import Glibc
import Testing

@testable import BackhaulStore

@Suite("Ends, events and acknowledgement")
struct EventTests {
    let scratch = Scratch()

    private func finished() -> Outcome {
        var outcome = Outcome(state: .succeeded, path: "/home/someone/files/1")
        outcome.size = 12_345
        outcome.attempts = 3
        outcome.bytesReceived = .max
        outcome.response.httpStatus = 206
        outcome.response.finalURL = "https://cdn.example.org/1"
        outcome.response.mediaType = "text/plain"
        outcome.response.headers = [HeaderField("ETag", "\"a\"")]
        return outcome
    }

    @Test("the end of a task makes one event with the whole outcome")
    func event() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let id = try store.enqueue(
            [
                .numbered(1) {
                    $0.userData = []; $0.idempotencyKey = "k"
                }
            ], in: session)[0]
        let change = try #require(try store.end(id, finished()))
        let events = try store.events(of: session)
        #expect(events.count == 2)
        #expect(
            events[0].task
                == EndedTask(
                    id: id, url: "https://example.org/files/1", idempotencyKey: "k", userData: [], outcome: finished()))
        #expect(events[0].round == 1)
        #expect(events[0].timeMilliseconds == 3_000)
        #expect(events[1].kind == .sessionFinished)
        #expect(events[1].round == 1)
        #expect(change.newestEvent == events[1].id)
        #expect(change.tasks == [id])
        #expect(change.identifier == "gallery")
        #expect(change.application == "org.example")
    }

    @Test("a failure is stored with its details and the body of the error response")
    func failure() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        var outcome = Outcome(
            state: .failed, failure: Failure(.httpStatus, "the server said 404", domain: .http, detail: 404))
        outcome.response.httpStatus = 404
        outcome.response.errorBody = Array("not here".utf8)
        try store.end(id, outcome)
        #expect(try store.events(of: session).first?.task?.outcome == outcome)
    }

    @Test("a task that has ended cannot end a second time")
    func once() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        #expect(try store.end(id) != nil)
        #expect(try store.end(id, Outcome(state: .cancelled)) == nil)
        #expect(try store.control(session, .cancel).count == 0)
        #expect(try store.events(of: session).compactMap(\.task).map(\.outcome.state) == [.succeeded])
    }

    @Test("events are returned in the order of commit until they are acknowledged")
    func order() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let ids = try store.enqueue((0..<5).map { .numbered($0) }, in: session)
        for id in [3, 0, 4, 1, 2].map({ ids[$0] }) { try store.end(id) }
        let events = try store.events(of: session)
        #expect(events.map(\.task?.id) == [3, 0, 4, 1, 2].map { ids[$0] } + [nil])
        #expect(events.map(\.id) == events.map(\.id).sorted())
        #expect(try store.events(of: session) == events)
        #expect(try store.events(of: session, after: events[2].id) == Array(events[3...]))
        #expect(try store.acknowledge(session, .ids([events[1].id, events[3].id, events[1].id])).count == 2)
        #expect(try store.events(of: session).map(\.id) == [0, 2, 4, 5].map { events[$0].id })
        #expect(try store.acknowledge(session, .ids([events[1].id])).count == 0)
        #expect(try store.acknowledge(session, .through(events[4].id)).count == 3)
        #expect(try store.events(of: session) == [events[5]])
        #expect(try store.info(session)?.events == 1)
    }

    @Test("when the end of a task is acknowledged, the task is removed, and its id is never used again")
    func numbers() throws {
        let session: SessionID
        let first: [TaskID]
        let newest: EventID
        do {
            let store = try TestStore(scratch.path)
            session = try store.session()
            first = try store.enqueue([.numbered(1)], in: session)
            try store.end(first[0])
            newest = try store.events(of: session).last!.id
            try store.acknowledge(session, .through(newest))
            #expect(try store.tasks(of: session).isEmpty)
            store.close()
        }
        let store = try TestStore(scratch.path)
        let second = try store.enqueue([.numbered(1)], in: session)
        #expect(second[0] > first[0])
        try store.end(second[0])
        #expect(try store.events(of: session).allSatisfy { $0.id > newest })
    }

    @Test("a round makes one event after its last task has ended; the next enqueue begins a new round and withdraws it")
    func rounds() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let ids = try store.enqueue([.numbered(1), .numbered(2)], in: session)
        try store.end(ids[0])
        #expect(try store.info(session)?.hasFinishedRound == false)
        try store.end(ids[1])
        #expect(try store.info(session)?.hasFinishedRound == true)
        let third = try store.enqueue([.numbered(3)], in: session)
        #expect(try store.info(session)?.round == 2)
        try store.end(third[0])
        let events = try store.events(of: session)
        #expect(events.map(\.round) == [1, 1, 2, 2])
        #expect(events.map { $0.kind == .sessionFinished } == [false, false, false, true])
        #expect(try store.info(session)?.events == 4)
    }

    @Test(
        "an idempotency key is free when the ends of its task and of its round are acknowledged, in any order",
        arguments: [[0, 1], [1, 0]])
    func keysOfFinishedRounds(order: [Int]) throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let request = Request.numbered(1) { $0.idempotencyKey = "k" }
        let first = try store.enqueue([request], in: session)[0]
        try store.end(first)
        let events = try store.events(of: session)
        try store.acknowledge(session, .ids([events[order[0]].id]))
        #expect(try store.enqueue([request], in: session) == [first])
        try store.acknowledge(session, .ids([events[order[1]].id]))
        #expect(try store.enqueue([request], in: session) != [first])
    }

    @Test("a round ends if its last tasks are cancelled")
    func cancelledRound() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let ids = try store.enqueue((0..<4).map { .numbered($0) }, in: session)
        try store.end(ids[1])
        let change = try store.control(session, .cancel)
        #expect(change.tasks == [ids[0], ids[2], ids[3]])
        let events = try store.events(of: session)
        #expect(events.map(\.task?.id) == [ids[1], ids[0], ids[2], ids[3], nil])
        #expect(events[1].task?.outcome.failure == Failure(.cancelled, "the task was cancelled"))
        #expect(change.newestEvent == events.last?.id)
        #expect(try store.info(session)?.liveTasks == 0)
    }

    @Test("the acknowledgement of an event that does not exist is refused")
    func unknownEvents() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try store.end(try store.enqueue([.numbered(1)], in: session)[0])
        let newest = try store.events(of: session).last!.id
        for id in [EventID(rawValue: newest.rawValue + 1), EventID(rawValue: .max)] {
            for acknowledgement in [Acknowledgement.ids([id]), .through(id)] {
                let failure = #expect(throws: Failure.self) { try store.acknowledge(session, acknowledgement) }
                #expect(failure?.status == .invalidArgument)
            }
        }
        #expect(try store.acknowledge(session, .ids([])).count == 0)
        #expect(try store.events(of: session).count == 2)
    }

    @Test("an acknowledgement in one session does not remove the events of another session")
    func others() throws {
        let store = try TestStore(scratch.path)
        let mine = try store.session()
        let theirs = try store.session("theirs")
        try store.end(try store.enqueue([.numbered(1)], in: theirs)[0])
        try store.end(try store.enqueue([.numbered(2)], in: mine)[0])
        let event = try store.events(of: theirs)[0].id
        #expect(try store.acknowledge(mine, .ids([event])).count == 0)
        #expect(try store.events(of: theirs).count == 2)
    }

    @Test("an acknowledgement returns which kept files must be removed; files that the host has claimed are left out")
    func kept() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let ids = try store.enqueue((0..<3).map { .numbered($0) { $0.destination = nil } }, in: session)
        try store.end(ids[0])
        try store.end(ids[1])
        try store.end(ids[2], Outcome(state: .failed, failure: Failure(.tooLarge, "too large")))
        #expect(try store.events(of: session)[0].task?.outcome.path == "\(scratch.path)/kept/\(ids[0].rawValue)")
        try store.run { transaction in
            #expect(
                try transaction.destinations.checkClaim(ids[1], session: session, path: "/home/someone/mine") == false)
            try transaction.destinations.recordClaim(ids[1], path: "/home/someone/mine")
            #expect(
                try transaction.destinations.checkClaim(ids[1], session: session, path: "/home/someone/mine") == true)
            try transaction.destinations.recordClaim(ids[1], path: "/home/someone/mine")
        }
        #expect(try store.events(of: session)[1].task?.outcome.path == "/home/someone/mine")
        let elsewhere = #expect(throws: Failure.self) {
            try store.run { try $0.destinations.recordClaim(ids[1], path: "/elsewhere") }
        }
        #expect(elsewhere?.status == .wrongState)
        let failed = #expect(throws: Failure.self) {
            try store.run { try $0.destinations.recordClaim(ids[2], path: "/elsewhere") }
        }
        #expect(failed?.status == .wrongState)
        let change = try store.acknowledge(session, .through(try store.events(of: session).last!.id))
        #expect(change.removedKept == [ids[0]])
        let gone = #expect(throws: Failure.self) {
            try store.run { try $0.destinations.recordClaim(ids[0], path: "/elsewhere") }
        }
        #expect(gone?.status == .notFound)
    }

    @Test("the recorded identity of a claimed file stays until the claim is recorded, or the event is acknowledged")
    func claimIntents() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let ids = try store.enqueue((0..<2).map { .numbered($0) { $0.destination = nil } }, in: session)
        let intent = FinishIntent(device: 1, inode: 2, size: 3)
        func stored(_ task: TaskID) throws -> FinishIntent? {
            try store.run { transaction throws(Failure) in try transaction.destinations.claimIntent(of: task) }
        }
        for id in ids {
            try store.end(id)
            try store.run {
                try $0.destinations.recordClaimIntent(id, intent, session: session, path: "/home/someone/mine")
            }
            #expect(try stored(id) == intent)
        }
        try store.run { transaction in
            try transaction.destinations.recordClaim(ids[0], path: "/home/someone/mine")
            // The file has been claimed already.
            try transaction.destinations.recordClaimIntent(ids[0], intent, session: session, path: "/home/someone/mine")
        }
        #expect(try stored(ids[0]) == nil)
        #expect(try stored(ids[1]) == intent)
        _ = try store.acknowledge(session, .through(try store.events(of: session).last!.id))
        #expect(try stored(ids[1]) == nil)
    }

    @Test("if a host acknowledges an event after an interrupted claim, the copy of the claim is listed for removal")
    func interruptedClaim() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let ids = try store.enqueue((0..<2).map { .numbered($0) { $0.destination = nil } }, in: session)
        for id in ids { try store.end(id) }
        try store.run { transaction in
            var intent = FinishIntent(device: 1, inode: 2, size: 3)
            intent.fileSystem = "ext4 1 /"
            for id in ids {
                try transaction.destinations.recordClaimIntent(
                    id, intent, session: session, path: "/drive/\(id.rawValue)")
            }
            try transaction.destinations.recordClaim(ids[1], path: "/drive/\(ids[1].rawValue)")
        }
        let part = try #require(try store.run { try $0.tasks.find(ids[0])?.task.part })
        let change = try store.acknowledge(session, .through(try store.events(of: session).last!.id))
        #expect(change.hasLeftoverCopies && change.removedKept == [ids[0]])
        let leftovers = try store.run { try $0.leftovers.page(now: 0, limit: 10).files }
        let copy = Leftover(
            task: ids[0], kind: .part(destinationPath: "/drive/\(ids[0].rawValue)"), part: part,
            fileSystem: "ext4 1 /")
        #expect(Set(leftovers) == [Leftover(task: ids[0], kind: .kept), copy])
    }

    @Test("after a claim to another directory, the copy of an interrupted claim is listed for removal")
    func claimToOtherDirectory() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let id = try store.enqueue([.numbered(0) { $0.destination = nil }], in: session)[0]
        try store.end(id)
        /// Begins a claim. Returns the leftovers afterwards.
        func claim(_ path: String, on fileSystem: String? = nil) throws -> [Leftover.Kind] {
            try store.run { transaction in
                var intent = FinishIntent(device: 1, inode: 2, size: 3)
                intent.fileSystem = fileSystem
                try transaction.destinations.recordClaimIntent(id, intent, session: session, path: path)
                return try transaction.leftovers.page(now: 0, limit: 10).files.map(\.kind)
            }
        }
        #expect(try claim("/drive/a", on: "ext4 1 /") == [])
        #expect(try claim("/drive/b") == [])
        #expect(try claim("/other/a") == [.part(destinationPath: "/drive/b")])
        // The copy of the next claim replaces the copy that was listed.
        #expect(try claim("/drive/b", on: "ext4 1 /") == [.part(destinationPath: "/other/a")])
        // Another file system is mounted there now.
        #expect(try claim("/drive/b", on: "ext4 2 /") == [.part(destinationPath: "/drive/b")])
    }

    @Test("unneeded files are listed until they are removed, even if the store is closed and opened before that")
    func leftovers() throws {
        let ids: [TaskID]
        do {
            let store = try TestStore(scratch.path)
            let session = try store.session()
            ids = try store.enqueue(
                [.numbered(0) { $0.destination = nil }, .numbered(1), .numbered(2)], in: session)
            try store.end(ids[0])
            try store.control(session, .cancel, TaskSelection(ids: [ids[1]]))
            try store.acknowledge(session, .through(try store.events(of: session).last!.id))
            store.close()
        }
        let store = try TestStore(scratch.path)
        let leftovers = try store.run { try $0.leftovers.page(now: 0, limit: 10).files }
        #expect(leftovers.map(\.task) == [ids[0], ids[1]])
        for (last, rest) in [(leftovers[0], [leftovers[1]]), (leftovers[1], [])] {
            #expect(
                try store.run { try $0.leftovers.page(after: last, now: 0, limit: 10).files } == rest)
        }
        #expect(leftovers.map(\.kind) == [.kept, .part(destinationPath: "/home/someone/files/1")])
        try store.run { try $0.leftovers.forget([leftovers[0]]) }
        let rest = try store.run { try $0.leftovers.page(now: 0, limit: 10).files }
        #expect(rest == [leftovers[1]])
    }

    @Test("after a closed store is moved, the paths of its kept files are correct")
    func movedStore() throws {
        let session: SessionID
        let id: TaskID
        do {
            let store = try TestStore(scratch.path + "/before")
            session = try store.session()
            id = try store.enqueue([.numbered(1) { $0.destination = nil }], in: session)[0]
            try store.end(id, Outcome(state: .succeeded, path: "\(scratch.path)/before/kept/\(id.rawValue)"))
            store.close()
        }
        #expect(rename(scratch.path + "/before", scratch.path + "/after") == 0)
        let store = try TestStore(scratch.path + "/after")
        #expect(try store.events(of: session)[0].task?.outcome.path == "\(scratch.path)/after/kept/\(id.rawValue)")
    }

    @Test("a poll returns no more events than requested, and no more events than fit in one message")
    func bounded() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let ids = try store.enqueue(
            (0..<40).map { .numbered($0) { $0.userData = [UInt8](repeating: 1, count: 65_536) } }, in: session)
        for id in ids { try store.end(id) }
        let few = try store.run { try $0.events.poll(session, after: .zero, maximum: 3) }
        #expect(few.events.count == 3)
        #expect(few.more)
        let large = try store.run { try $0.events.poll(session, after: .zero, maximum: 1_000) }
        #expect(large.events.count == 16)
        #expect(large.more)
        let last = try store.run { try $0.events.poll(session, after: EventID(rawValue: 38), maximum: 3) }
        #expect(last.events.count == 3)
        #expect(!last.more)
        #expect(
            try store.run { try $0.events.poll(session, after: EventID(rawValue: .max), maximum: .max).events }.isEmpty)
        #expect(
            try store.run { try $0.events.count(of: session, through: EventID(rawValue: 10)) } == 10)
    }

    @Test("an invalidated session is removed at its last acknowledgement, and its identifier is free again")
    func invalidated() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try store.enqueue([.numbered(1), .numbered(2)], in: session)
        let change = try store.run { try $0.sessions.invalidate(session, cancelTasks: true, now: 5) }
        #expect(change.count == 2)
        #expect(!change.sessionRemoved)
        #expect(try store.info(session)?.isInvalidating == true)
        let again = #expect(throws: Failure.self) { try store.session() }
        #expect(again?.status == .invalidated)
        let events = try store.events(of: session)
        #expect(try !store.acknowledge(session, .ids([events[0].id])).sessionRemoved)
        #expect(try store.acknowledge(session, .through(events[2].id)).sessionRemoved)
        #expect(try store.info(session) == nil)
        #expect(try store.session() > session)
    }

    @Test("an invalidated session without tasks and events is removed immediately")
    func invalidatedEmpty() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        #expect(
            try store.run { try $0.sessions.invalidate(session, cancelTasks: false, now: 5).sessionRemoved })
        #expect(try store.info(session) == nil)
    }
}

extension SessionID {
    static func > (left: SessionID, right: SessionID) -> Bool { left.rawValue > right.rawValue }
}
