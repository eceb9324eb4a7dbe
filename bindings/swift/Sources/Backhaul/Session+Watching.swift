internal import CBackhaul
internal import Synchronization

extension Session {
    // MARK: Challenges

    /// Returns the open challenges.
    public func challenges() async throws -> [Challenge] {
        try await listing(bh_session_challenges) { $0.challenges() }
    }

    /// Responds to an open challenge, and acknowledges its event.
    ///
    /// The engine first starts one of the waiting tasks, and then the others. The role of this object must be consumer
    /// or producer.
    ///
    /// - Parameters:
    ///   - isKept: Whether the credential is stored (mode 0600) for later engines.
    ///   - expiresMilliseconds: When the credential expires, as Unix time in milliseconds. Before a request after this
    ///     time, the engine opens a new challenge.
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
        toChallenge id: UInt64, with response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) async throws {
        let arena = Arena()
        var value = try response.value(arena, isKept: isKept, expiresMilliseconds: expiresMilliseconds)
        try await verb { bh_session_respond($0, id, &value, BH_START, $1) } take: { _ in }
    }

    // MARK: Progress

    /// Returns a sequence of the live progress of running tasks. A newer reading of a task replaces one that was not
    /// read. At most 1,024 tasks have readings at the same time.
    ///
    /// The sequence does not end by itself. Only one reader of each `Session` may iterate over it.
    ///
    /// - Parameter interval: The shortest time between two readings of one task: 100 milliseconds to a minute.
    public func progress(every interval: Duration = .milliseconds(500)) -> ProgressSequence {
        ProgressSequence(session: self, interval: interval)
    }

    // MARK: Internal

    /// Makes the engine send progress readings, for each task at most one in `milliseconds`. 0 stops the readings.
    func watchProgress(_ milliseconds: UInt32) async throws {
        try await verb { bh_session_watch_progress($0, milliseconds, BH_START, $1) } take: { _ in }
    }

    /// Returns the progress readings that no earlier call has returned.
    func pollProgress() throws(BackhaulError) -> [TaskProgress] {
        let handle = try open()
        // Unsafe: an opaque handle, never dereferenced here.
        var batch: OpaquePointer?
        try check { error in bh_session_poll_progress(handle.pointer, 0, &batch, error) }
        return Batch(batch).progress()
    }

    /// Waits until `pollProgress` has readings to return.
    func progressReady() async throws {
        try await driver.readable(progressDescriptor) { [weak self] in self?.isClosed.withLock { $0 } == false }
    }
}
