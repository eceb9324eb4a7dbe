import BackhaulClient
import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

/// The *outcome* of a verb is the result of this command.
@Suite("The outcome of a verb")
struct StartedVerbTests {
    private let refused = Failure(.wrongRole, "an observer changes nothing")
    private let task = TaskInfo(
        id: TaskID(rawValue: 1), round: 1, state: .waiting, reason: .slot, reasonText: nil,
        nextAttemptMilliseconds: 0, url: "http://example.org/", destinationPath: nil, idempotencyKey: nil,
        userData: nil, priority: 0, failure: nil, httpStatus: 0, attempts: 0, offset: 0, size: nil,
        bytesPerSecond: 0, enqueuedMilliseconds: 0)

    private func thrown(_ reply: Reply, _ kind: StartedVerb.Kind) -> Failure? {
        failure { () throws(Failure) in try kind.checked(.reply(reply)) }
    }

    @Test(
        "the outcome of a failed verb is its failure",
        arguments: [.empty, .count, .session, .batch, .oneTask] as [StartedVerb.Kind])
    func failed(kind: StartedVerb.Kind) { #expect(thrown(.failed(refused), kind) == refused) }

    @Test("the outcome of a failed enqueue has the failure, and the number of applied requests is 0")
    func failedEnqueue() throws {
        guard
            case .enqueued(let applied, let failure) = try StartedVerb.Kind.enqueue.checked(
                .reply(.failed(refused)))
        else {
            Issue.record("another outcome")
            return
        }
        #expect(applied.count == 0 && failure == refused)
    }

    @Test("the outcome of a verb that returns one task is this task")
    func oneTask() throws {
        guard
            case .reply(.tasks(let tasks, let more)) = try StartedVerb.Kind.oneTask.checked(
                .reply(.tasks([task], more: true)))
        else {
            Issue.record("another outcome")
            return
        }
        #expect(tasks == [task] && !more)
    }

    @Test("the outcome of a verb for an unknown task is the status `notFound`")
    func noTask() { #expect(thrown(.tasks([], more: false), .oneTask)?.status == .notFound) }

    @Test("if the engine's reply does not fit the command, the outcome of a verb is an internal error")
    func confused() {
        #expect(thrown(.done, .count)?.status == .internal)
        #expect(thrown(.sessions([], more: false), .session)?.status == .internal)
        #expect(thrown(.count(1), .batch)?.status == .internal)
        #expect(thrown(.events([], more: false), .enqueue)?.status == .internal)
    }
}

@Suite("The results of an enqueue")
struct EnqueueResultsTests {
    private let two = [
        Enqueued(task: TaskID(rawValue: 7), disposition: .new),
        Enqueued(task: TaskID(rawValue: 8), disposition: .existing),
    ]

    private func results(_ enqueued: [Enqueued]) -> [String] {
        let batch = Batch(EnqueuedList(enqueued))
        return withExtendedLifetime(batch) {
            (0..<batch.count).compactMap { batch.enqueued(at: $0)?.pointee }.map {
                "\($0.request): \($0.task_id) \($0.disposition) \($0.task_state) \($0.event_id)"
            }
        }
    }

    @Test("the results of an enqueue say which tasks are new, and have the states of the existing tasks")
    func applied() {
        var two = two
        two[1].state = .succeeded
        two[1].end = EventID(rawValue: 5)
        #expect(results(two) == ["0: 7 1 0 0", "1: 8 2 4 5"])
    }

    @Test("if a request was not applied, the results of the other requests have the correct request numbers")
    func gap() {
        #expect(
            results([two[0], Enqueued(task: .zero, disposition: .notApplied), two[1]]) == ["0: 7 1 0 0", "2: 8 2 0 0"])
    }

    @Test("if an enqueue applied no request, the enqueue has no results")
    func empty() { #expect(Batch(EnqueuedList(notApplied: 3)).count == 0) }
}
