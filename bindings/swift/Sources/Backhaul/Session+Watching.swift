internal import CBackhaul
internal import Synchronization

extension Session {
    // MARK: Challenges

    /// The open challenges.
    public func challenges() async throws -> [Challenge] {
        try await listing(bh_session_challenges) { $0.challenges() }
    }

    /// Responds to an open challenge, and acknowledges its event.
    ///
    /// One of the waiting tasks is started first, then the others. The session's role must be consumer or producer.
    ///
    /// - Parameters:
    ///   - isKept: Whether the credential is stored (mode 0600) for later engines.
    ///   - expiresMilliseconds: Until when the credential is valid, as Unix time in milliseconds. Before a later
    ///     request
    ///     the host gets a new challenge.
    /// - Throws: `BackhaulError` with `.notFound` when the challenge is not open.
    public func respond(
        to challenge: Challenge, with response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) async throws {
        try await respond(
            toChallenge: challenge.id, with: response, isKept: isKept, expiresMilliseconds: expiresMilliseconds)
    }

    /// Responds to the open challenge with this id, as `respond(to:with:isKept:expiresMilliseconds:)`.
    public func respond(
        toChallenge id: UInt64, with response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) async throws {
        let arena = Arena()
        var value = try response.value(arena, isKept: isKept, expiresMilliseconds: expiresMilliseconds)
        try await verb { bh_session_respond($0, id, &value, BH_START, $1) } take: { _ in }
    }

    // MARK: Progress

    /// Live progress of the running tasks: the newest reading of each, for at most 1,024 tasks at a time.
    ///
    /// The sequence does not end by itself. Only one reader of each `Session` may iterate over it.
    ///
    /// - Parameter interval: The shortest time between two readings of one task: 100 milliseconds to a minute.
    public func progress(every interval: Duration = .milliseconds(500)) -> ProgressSequence {
        ProgressSequence(session: self, interval: interval)
    }

    // MARK: Within

    /// Requests progress readings, for each task at most one in `milliseconds`; 0 ends them.
    func watchProgress(_ milliseconds: UInt32) async throws {
        try await verb { bh_session_watch_progress($0, milliseconds, BH_START, $1) } take: { _ in }
    }

    /// Returns the progress readings that were not returned yet.
    func pollProgress() throws(BackhaulError) -> [TaskProgress] {
        let handle = try open()
        // Unsafe: an opaque handle, never dereferenced here.
        var batch: OpaquePointer?
        try check { error in bh_session_poll_progress(handle.pointer, 0, &batch, error) }
        return Batch(batch).progress()
    }

    /// Waits until there are progress readings.
    func progressReady() async throws {
        try await driver.readable(progressDescriptor) { [weak self] in self?.isClosed.withLock { $0 } == false }
    }
}
