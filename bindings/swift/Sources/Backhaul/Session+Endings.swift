internal import CBackhaul
internal import Glibc

/// Methods that wait for the end of a task. The host acknowledges each event that it has processed. The history lists
/// ended tasks whose events are acknowledged.
extension Session {
    /// Waits until the task has ended, and returns its ending. If the task has already ended, even in an earlier run of
    /// the program, the method returns at once.
    ///
    /// The method does not acknowledge the event about the end of the task: `acknowledge(_:)` does, after the host has
    /// processed the ending. Any number of Swift tasks may wait at the same time, also while the program iterates over
    /// `events`. If the event was acknowledged, the ending comes from the history, and its `eventID` is nil. The role
    /// of this object must be `Role.consume`.
    ///
    /// The method reads the events of the session, also those about other tasks. So before `complete`, the host also
    /// acknowledges the events about tasks that ended meanwhile, and that it does not wait for: `poll` returns them.
    ///
    /// - Throws: `BackhaulError` with `.notFound` if the task is not in the session's list of tasks, and not in the
    ///   history. The history keeps only the `historyLimit` tasks that ended last.
    public func ending(of id: TaskID) async throws -> TaskEnding { try await endings.ending(of: id, in: self) }

    /// Acknowledges the event about the end of a task, for example an ending that `ending(of:)` has returned. If the
    /// event was already acknowledged, the call has no effect.
    public func acknowledge(_ ending: TaskEnding) async throws {
        if let event = ending.eventID { try await acknowledge(ids: [event]) }
    }

    /// Downloads a file, waits until the task has ended, and acknowledges the event about its end. Returns the path of
    /// the file. If the Swift task is cancelled, the download continues.
    ///
    /// If an earlier run of the program has enqueued the download with the same key, the method waits for that task. If
    /// that task has succeeded, the method returns the path of its file at once.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - destination: The absolute path at which the file is placed.
    ///   - key: The idempotency key, which identifies the download in later runs of the program (see `download`).
    ///   - ifExists: What the engine does if a file exists at the destination.
    /// - Throws: `BackhaulError` with the reason why the task failed, or with `.cancelled`. A later call with the same
    ///   key then makes a new task. `.notFound` means that a task with this key has succeeded earlier, but that its
    ///   file no longer exists.
    public func downloadFile(
        _ url: String, to destination: String, key: String? = nil, ifExists: ExistsPolicy = .fail
    ) async throws -> String {
        let request = Request(url: url, destination: destination, idempotencyKey: key, ifExists: ifExists)
        guard let enqueued = try await enqueue([request]).first else { throw BackhaulError(BH_INTERNAL) }
        if enqueued.isAcknowledged, enqueued.state == .succeeded {
            endings.use()
            return try await existing(destination)
        }
        let ending = try await ending(of: enqueued.taskID)
        try await acknowledge(ending)
        switch ending.outcome {
        case .succeeded(let path): return path
        case .failed(let error): throw error
        case .cancelled: throw BackhaulError(.cancelled, message: "the download was cancelled")
        }
    }

    /// Acknowledges the events about the ends of rounds and groups that the host has not received.
    func acknowledgeUnreadEnds() async throws {
        let last = lastReturnedEvent
        var ends = endings.readEnds.filter { $0 > last ?? EventID(rawValue: 0) }
        // An ended task is listed until its event is acknowledged. So if no task is listed, there are no such events,
        // and all events about the ends of rounds and groups can be read.
        if try await run(.tasks(.all, after: nil, maximum: 1)).0.isEmpty {
            ends.formUnion(try await receive(after: last, maximum: 1000).events.filter(\.isEndOfTasks).map(\.id))
        }
        if !ends.isEmpty { try await acknowledge(ids: ends.sorted()) }
    }

    private func existing(_ path: String) async throws -> String {
        let exists = try await driver.perform { (_) throws(BackhaulError) in access(path, F_OK) == 0 }
        guard exists else {
            throw BackhaulError(
                .notFound,
                message:
                    "a task with this key has placed the file \(path), but the file no longer exists; to download it "
                    + "again, use another key")
        }
        return path
    }

    /// Returns the task if the session's list of tasks has it, otherwise nil.
    func listed(_ id: TaskID) async throws -> TaskInfo? {
        do {
            return try await run(.task(id))
        } catch let error as BackhaulError where error.status == .notFound {
            return nil
        }
    }

    /// Returns the task if the history has it, otherwise nil.
    func inHistory(_ id: TaskID) async throws -> TaskInfo? {
        guard id.rawValue > 0 else { return nil }
        let previous = TaskID(rawValue: id.rawValue - 1)
        return try await history(after: previous, maximum: 1).tasks.first { $0.id == id }
    }
}
