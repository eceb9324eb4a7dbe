internal import CBackhaul
internal import Synchronization

/// Methods for challenges and for progress. A challenge is a demand to the program that uses the library: the program
/// must give a credential, new headers or a new URL. The engine is the process that runs the tasks. The store is the
/// directory with all durable data.
extension Session {
    // MARK: Challenges

    /// Returns the open challenges, at most 1,000. If there are more, call the method again after the responses.
    public func challenges() async throws -> [Challenge] { try await run(.challenges) }

    /// Responds to an open challenge, and acknowledges its event.
    ///
    /// First, one of the waiting tasks uses the response. If the server accepts the response, the other waiting tasks
    /// use it as well. The role of this object must be `Role.consume` or `Role.produce`.
    ///
    /// - Parameters:
    ///   - challenge: The open challenge.
    ///   - response: The credential, headers or URL, or the refusal.
    ///   - isKept: Whether the store keeps the credential, so that an engine that starts later can use it. The file
    ///     that contains the credential has mode 0600.
    ///   - expiresMilliseconds: The time at which the credential expires, in Unix milliseconds. After this time, the
    ///     engine opens a new challenge before it sends a request.
    /// - Throws: `BackhaulError` with `.notFound` if the challenge is not open.
    public func respond(
        to challenge: Challenge, with response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) async throws {
        try await respond(
            toChallenge: challenge.id, with: response, isKept: isKept, expiresMilliseconds: expiresMilliseconds)
    }

    /// Does the same as `respond(to:with:isKept:expiresMilliseconds:)` for the open challenge with this id.
    public func respond(
        toChallenge id: ChallengeID, with response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) async throws {
        try await run(.respond(id, response, isKept: isKept, expiresMilliseconds: expiresMilliseconds))
    }

    // MARK: Progress

    /// Returns a sequence of the live progress of running tasks. A *reading* is the progress of one task at one time. A
    /// newer reading replaces an older, unread reading of the same task. At most 1,024 tasks have readings at the same
    /// time.
    ///
    /// The sequence does not end by itself. Only one reader of each `Session` may iterate over the sequence.
    ///
    /// - Parameter interval: The shortest time between two readings of one task: 100 milliseconds to a minute.
    public func progress(every interval: Duration = .milliseconds(500)) -> ProgressSequence {
        ProgressSequence(session: self, interval: interval)
    }

    /// Returns a sequence of the live progress of one task, which ends when the task has ended. If the task has already
    /// ended, the sequence has one reading. Any number of such sequences may be used at the same time, also beside
    /// `progress(every:)`. The role of this object may be any role.
    ///
    /// - Parameters:
    ///   - task: The task. If it is unknown, the iteration throws `BackhaulError` with `.notFound` (see `task`).
    ///   - interval: The shortest time between two readings, at least 100 milliseconds.
    public func progress(of task: TaskID, every interval: Duration = .milliseconds(500)) -> TaskProgressSequence {
        TaskProgressSequence(session: self, task: task, interval: interval)
    }

    // MARK: Internal

    /// Returns the progress readings that no earlier call has returned.
    func pollProgress() throws(BackhaulError) -> [TaskProgress] {
        let handle = try open()
        // Unsafe: the handle is opaque, and is never dereferenced here.
        var batch: OpaquePointer?
        try check { error in bh_session_poll_progress(handle.pointer, 0, &batch, error) }
        return Batch(batch).progress()
    }

    /// Waits until `pollProgress` has readings to return.
    func progressReady() async throws {
        try await driver.readable(progressDescriptor) { [weak self] () throws(BackhaulError) in
            guard let self, isOpen else { throw .closed }
            return true
        }
    }
}
