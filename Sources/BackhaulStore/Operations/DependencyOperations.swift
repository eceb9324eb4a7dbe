internal import BackhaulModel

/// Operations on the tasks that tasks wait for. A value that a task takes from a response is stored in the transaction
/// in which the other task ends. So the response is not needed any more when the host acknowledges its event.
struct DependencyOperations {
    let tables: Tables
    private var waits: WaitOperations { WaitOperations(tables: tables) }

    /// What follows for other tasks from the end of a task.
    struct Consequences {
        /// The ends of tasks that waited for the task.
        var ends: [TaskEnd] = []
        /// The lanes of the tasks that may start now.
        var lanes: Set<LaneID> = []
        /// The highest priority of these tasks.
        var priority = Int32.min
    }

    // MARK: Enqueue

    /// Stores the dependencies of a new task, and makes the task wait if one of the other tasks has not ended. Throws
    /// if another task does not exist, or has ended in a way that the new task does not accept.
    func insert(
        _ request: Request, of task: TaskID, in session: SessionID, _ terms: inout EnqueueTerms
    ) throws(Failure) {
        var waits = false
        for (position, dependency) in request.options.dependencies.enumerated() {
            let found = try predecessor(dependency.task, in: session)
            guard found?.id != task else {
                throw Failure(.invalidArgument, "the request waits for itself; name a task that exists")
            }
            if dependency.needsBody, let found, found.kind != .upload {
                throw Failure(
                    .invalidArgument,
                    "task \(found.id.rawValue) is a download, whose body becomes a file; a body can be taken only from "
                        + "the response to an upload")
            }
            let isOver = found?.hasEnded ?? true
            try tables.dependencies.insert(
                dependency, on: found?.id ?? .zero, of: task, at: position, isOver: isOver)
            guard isOver else {
                waits = true
                continue
            }
            try checkEnded(found, dependency)
            guard let found, !dependency.places.isEmpty else { continue }
            if let failure = try take(
                dependency, from: found.id, for: task, removesLane: false, known: &terms.response)
            {
                throw failure
            }
        }
        guard waits, !request.startsSuspended else { return }
        try tables.delays.delayUntilDependencies(
            of: task, DelayMoment(boot: terms.clock.boot, calendar: terms.now))
        terms.hasDelayed = true
    }

    /// Nil if the task has succeeded, and its event was acknowledged. Only its key is left of such a task.
    private func predecessor(
        _ name: Dependency.Name, in session: SessionID
    ) throws(Failure) -> PredecessorRow? {
        switch name {
        case .id(let id):
            guard let found = try tables.tasks.predecessor(id, in: session) else {
                throw Failure(
                    .notFound,
                    "the session has no task \(id.rawValue) to wait for; it may have ended, and its event was "
                        + "acknowledged")
            }
            return found
        case .key(let key):
            if let id = try tables.tasks.find(key: key, in: session)?.enqueued.task {
                return try tables.tasks.predecessor(id, in: session)
            }
            guard try tables.delivered.find(key, in: session) != nil else {
                throw Failure(
                    .notFound, "the session has no task with the idempotency key '\(key)' to wait for")
            }
            return nil
        }
    }

    private func checkEnded(_ found: PredecessorRow?, _ dependency: Dependency) throws(Failure) {
        guard let found else {
            guard !dependency.places.isEmpty, case .key(let key) = dependency.task else { return }
            throw Failure(
                .notFound,
                "the event of the task with the idempotency key '\(key)' was acknowledged, so its response is not "
                    + "stored any more; enqueue it again with another key")
        }
        guard found.state != .succeeded, dependency.ifFails != .ignore else { return }
        throw Failure(
            .dependencyFailed,
            "task \(found.id.rawValue), for which the request waits, has not succeeded; enqueue it again")
    }

    // MARK: Ends

    /// Decides about the tasks that waited for a task that has ended in this transaction.
    func ended(_ predecessor: TaskID, in state: TaskState, now: Int64) throws(Failure) -> Consequences {
        try consequences(of: tables.dependencies.lasting(on: predecessor), in: state, now: now)
    }

    /// Decides about the tasks that waited for the selected tasks, which have ended in this transaction.
    func selectedEnded(in state: TaskState, now: Int64) throws(Failure) -> Consequences {
        try tables.dependencies.endAllOfSelected()
        return try consequences(of: tables.dependencies.lastingOnSelected(), in: state, now: now)
    }

    /// Decides about a task that waited for a task whose rows are lost.
    func lost(_ row: DependencyRow, now: Int64) throws(Failure) -> Consequences {
        try consequences(of: [row], in: .failed, now: now)
    }

    private func consequences(
        of rows: [DependencyRow], in state: TaskState, now: Int64
    ) throws(Failure) -> Consequences {
        var found = Consequences()
        var ended: [(task: TaskID, wait: WaitRecord)] = []
        var session: SessionID?
        var response: TakenResponse?
        for row in rows {
            try tables.dependencies.end(row)
            guard let task = try tables.tasks.live(row.task) else { continue }
            switch row.dependency.ifFails {
            case _ where state == .succeeded:
                if let failure = try take(
                    row.dependency, from: row.predecessor, for: row.task, removesLane: true, known: &response)
                {
                    found.ends.append(TaskEnd(row.task, Outcome(state: .failed, failure: failure)))
                    continue
                }
            case .fail:
                found.ends.append(TaskEnd(row.task, Outcome(state: .failed, failure: Self.failed(row.predecessor))))
                continue
            case .cancel:
                let failure = Failure(.cancelled, Self.sentence(row.predecessor))
                found.ends.append(TaskEnd(row.task, Outcome(state: .cancelled, failure: failure)))
                continue
            case .ignore: break
            }
            guard let released = try release(row.task, now: now) else { continue }
            found.lanes.insert(released.lane)
            found.priority = max(found.priority, released.priority)
            session = task.session
            if let wait = try wait(of: row.task, in: task.session, now: now) { ended.append((row.task, wait)) }
        }
        // All tasks are of one session, whose records are trimmed one time.
        if let session { try waits.record(ended, in: session) }
        return found
    }

    /// Returns the wait of a task for others, which has ended.
    private func wait(of task: TaskID, in session: SessionID, now: Int64) throws(Failure) -> WaitRecord? {
        guard let place = try tables.listing.timeline(of: task, in: session) else { return nil }
        return WaitRecord(
            .dependency, WaitReason.dependency.text ?? "", beganMilliseconds: place.enqueued,
            endedMilliseconds: max(now, place.enqueued))
    }

    private func release(_ task: TaskID, now: Int64) throws(Failure) -> ReleasedRow? {
        guard let released = try tables.delays.releaseDependent(task) else { return nil }
        // A load of the lane delays the task until its earliest start (`StartOperations.startable`).
        if let earliest = try tables.options.earliestStart(of: task), earliest > now {
            try tables.options.setDelayed(task, since: now)
        }
        return released
    }

    private static func sentence(_ predecessor: TaskID) -> String {
        "task \(predecessor.rawValue), which this task waited for, did not succeed"
    }

    private static func failed(_ predecessor: TaskID) -> Failure {
        Failure(.dependencyFailed, sentence(predecessor) + "; its own event has the reason")
    }

    // MARK: Values

    /// Stores the values that the task takes from the response. Returns a failure if the response does not have them,
    /// or if they cannot be used. `removesLane`: whether the task's former lane is removed if it has no other task.
    /// `known`: the response from which the caller has last taken values. Thousands of tasks may wait for one task, and
    /// its response is read only once for all of them.
    private func take(
        _ dependency: Dependency, from predecessor: TaskID, for task: TaskID, removesLane: Bool,
        known: inout TakenResponse?
    ) throws(Failure) -> Failure? {
        guard !dependency.places.isEmpty else { return nil }
        let response: TakenResponse
        if let known, known.predecessor == predecessor {
            response = known
        } else {
            response = TakenResponse(try tables.requests.wholeResponse(of: predecessor), of: predecessor, tables)
            known = response
        }
        var values = try tables.dependencies.values(of: task) ?? TakenValues()
        var move: Origin?
        let own = try tables.requests.url(of: task)
        if let failure = try response.values(of: dependency, addingTo: &values, for: own, origin: &move) {
            return failure
        }
        try tables.dependencies.write(values, of: task)
        if let body = values.body { try tables.options.setBodySize(body.count, of: task) }
        guard let move, let old = try tables.tasks.live(task) else { return nil }
        let new = try tables.lanes.findOrInsert(old.session, move)
        guard old.lane != new else { return nil }
        try tables.tasks.move(task, to: new)
        if removesLane { try tables.lanes.removeEmpty(among: [old.lane]) }
        return nil
    }
}

/// A response from which other tasks take values. The values come from a server, so they are checked.
final class TakenResponse {
    let predecessor: TaskID
    private let response: ResponseSummary
    private let tables: Tables
    /// The response's body; nil if it is no JSON document, or was not read yet.
    private var document: JSONDocument?
    private var hasReadDocument = false

    init(_ response: ResponseSummary, of predecessor: TaskID, _ tables: Tables) {
        (self.response, self.predecessor, self.tables) = (response, predecessor, tables)
    }

    /// Adds the values. Returns a failure if one of them is missing or cannot be used. `own`: the URL of the waiting
    /// request. `origin`: set to the origin of the taken URL.
    func values(
        of dependency: Dependency, addingTo values: inout TakenValues, for own: String, origin: inout Origin?
    ) throws(Failure) -> Failure? {
        if response.isBodyIncomplete, dependency.needsBody {
            return Failure(
                .badResponse,
                "the engine does not have the whole body of the response to task \(predecessor.rawValue), which this "
                    + "task waited for: it is longer than 65,536 bytes, took longer than 30 seconds, was lost, or is "
                    + "that of an upload to S3 in several parts; take a value from a header instead")
        }
        if let place = dependency.url {
            guard let reference = try text(at: place), !reference.isEmpty else { return missing(place) }
            let base = response.finalURL ?? own
            let target: (url: String, origin: Origin)
            do throws(Failure) {
                target = try tables.resolver.resolve(reference, base)
            } catch {
                return unusable(place, error.message)
            }
            guard target.url.utf8.count <= Limits.urlSize else { return unusable(place, "the URL is too long") }
            guard target.origin.scheme == "https" || !(base.isEncryptedURL || own.isEncryptedURL) else {
                return unusable(place, "\(target.origin.text) would give up the encryption")
            }
            (values.url, origin) = (target.url, target.origin)
        }
        for field in dependency.headers {
            guard let value = try text(at: field.value) else { return missing(field.value) }
            guard value.utf8.count <= Limits.headersSize / 2, value.utf8.allSatisfy(\.isFieldText) else {
                return unusable(field.value, "it has a control character, or is too long for a header field")
            }
            values.headers.append(HeaderField(field.name, value))
        }
        if let place = dependency.body {
            if ResponseValue(place) == .body {
                values.body = response.responseBody ?? []
            } else {
                guard let value = try text(at: place) else { return missing(place) }
                values.body = Array(value.utf8)
            }
        }
        return nil
    }

    private func text(at place: String) throws(Failure) -> String? {
        switch ResponseValue(place) {
        case .field(let name):
            let values = response.headers.filter { ResponseField($0.name, []).isNamed(name) }.map(\.value)
            return values.count == 1 ? values[0] : nil
        case .finalURL: return response.finalURL
        case .body: return response.responseBody.flatMap { String(validating: $0, as: UTF8.self) }
        case .member(let tokens): return try member(tokens)
        case nil: return nil
        }
    }

    private func member(_ tokens: [String]) throws(Failure) -> String? {
        if !hasReadDocument {
            document = try readDocument()
            hasReadDocument = true
        }
        // SQLite would convert a large number to a double.
        return document?.value(at: tokens)
    }

    private func readDocument() throws(Failure) -> JSONDocument? {
        guard let body = response.responseBody, !body.contains(0),
            let text = String(validating: body, as: UTF8.self), try tables.dependencies.isDocument(text)
        else { return nil }
        return JSONDocument(body)
    }

    private func missing(_ place: String) -> Failure {
        Failure(
            .badResponse,
            "the response to task \(predecessor.rawValue), which this task waited for, has no single value at "
                + "\(place.prefix(200))")
    }

    private func unusable(_ place: String, _ reason: String) -> Failure {
        Failure(
            .badResponse,
            "the value at \(place.prefix(200)) of the response to task \(predecessor.rawValue), which this task waited "
                + "for, cannot be used: \(reason)")
    }
}
