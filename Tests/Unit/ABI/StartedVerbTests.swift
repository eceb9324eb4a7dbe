import BackhaulClient
import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

@Suite("The outcome of a verb")
struct StartedVerbTests {
    private let refused = Failure(.wrongRole, "an observer changes nothing")
    private let task = TaskInfo(
        id: TaskID(rawValue: 1), round: 1, state: .waiting, reason: .turn, reasonText: nil,
        nextAttemptMilliseconds: 0, url: "http://example.org/", destinationPath: nil, idempotencyKey: nil,
        userData: nil, priority: 0, failure: nil, httpStatus: 0, attempts: 0, offset: 0, size: nil,
        bytesPerSecond: 0, enqueuedMilliseconds: 0)

    private func thrown(_ reply: Reply, _ kind: StartedVerb.Kind) -> Failure? {
        failure { () throws(Failure) in try kind.checked(.reply(reply)) }
    }

    @Test(
        "that failed is its failure",
        arguments: [.nothing, .count, .session, .batch, .oneTask] as [StartedVerb.Kind])
    func failed(kind: StartedVerb.Kind) { #expect(thrown(.failed(refused), kind) == refused) }

    @Test("of an enqueue that failed says that nothing is known to be applied, and why")
    func failedEnqueue() throws {
        guard case .enqueued(let applied, let failure) = try StartedVerb.Kind.enqueue(3).checked(
            .reply(.failed(refused)))
        else {
            Issue.record("another outcome")
            return
        }
        #expect(applied.count == 0 && failure == refused)
    }

    @Test("about one task is that task")
    func oneTask() throws {
        guard case .reply(.tasks(let tasks, let more)) = try StartedVerb.Kind.oneTask.checked(
            .reply(.tasks([task], more: true)))
        else {
            Issue.record("another outcome")
            return
        }
        #expect(tasks == [task] && !more)
    }

    @Test("about a task that is not there is not found")
    func noTask() { #expect(thrown(.tasks([], more: false), .oneTask)?.status == .notFound) }

    @Test("that answers another question is a defect, and no trap")
    func confused() {
        #expect(thrown(.done, .count)?.status == .internal)
        #expect(thrown(.sessions([]), .session)?.status == .internal)
        #expect(thrown(.count(1), .batch)?.status == .internal)
        #expect(thrown(.events([], more: false), .enqueue(1))?.status == .internal)
    }
}

@Suite("The results of an enqueue")
struct EnqueueResultsTests {
    private let two = [
        Enqueued(task: TaskID(rawValue: 7), disposition: .new),
        Enqueued(task: TaskID(rawValue: 8), disposition: .existing),
    ]

    private func fill(
        _ enqueued: [Enqueued], _ failure: Failure?, room: Int
    ) -> (results: [String], applied: Int) {
        var applied = 99
        let results = [bh_enqueued](unsafeUninitializedCapacity: room) { buffer, count in
            buffer.initialize(repeating: bh_enqueued(task_id: 99, disposition: 99, status: 99))
            EnqueueResults(buffer.baseAddress, room: room, &applied).fill(EnqueuedList(enqueued), failure)
            count = room
        }
        return (results.map { "\($0.task_id) \($0.disposition) \($0.status)" }, applied)
    }

    @Test("are the tasks and what was done")
    func applied() { #expect(fill(two, nil, room: 2) == (["7 1 0", "8 2 0"], 2)) }

    @Test("fill no more than the room")
    func room() { #expect(fill(two, nil, room: 1) == (["7 1 0"], 2)) }

    @Test("name the request that was refused, and leave those after it unapplied")
    func refused() {
        let failure = Failure(.destinationInUse, "taken", index: 3)
        #expect(fill(two, failure, room: 5) == (["7 1 0", "8 2 0", "0 0 0", "0 0 7", "0 0 0"], 2))
    }

    @Test("give everyone the reason that is nobody's in particular")
    func everyone() {
        #expect(fill([], Failure(.wrongRole, "observer"), room: 2) == (["0 0 11", "0 0 11"], 0))
    }

    @Test("count the applied prefix, also when a later chunk was applied")
    func prefix() {
        let gap = [two[0], Enqueued(task: .zero, disposition: .notApplied), two[1]]
        let failure = Failure(.keyConflict, "other", index: 1)
        #expect(fill(gap, failure, room: 3) == (["7 1 0", "0 0 6", "8 2 0"], 1))
    }

    @Test("are optional")
    func optional() {
        EnqueueResults(nil, room: 0, nil).fill(EnqueuedList(two), nil)
    }
}
