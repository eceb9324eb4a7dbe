internal import CBackhaul
internal import Synchronization

extension Session {
    // MARK: Challenges

    /// The open challenges.
    public func challenges() async throws -> [Challenge] {
        try await listing(bh_session_challenges) { $0.challenges() }
    }

    /// Responds to an open challenge, and acknowledges its event. One of the tasks that wait is tried first, then the
    /// others. Consumers and producers.
    ///
    /// - Parameters:
    ///   - isKept: the credential is stored (mode 0600) for later engines.
    ///   - expiresMilliseconds: Unix time in milliseconds; the host is asked again before a request starts later.
    /// - Throws: `BackhaulError` with `.notFound` when the challenge is not open.
    public func respond(
        to challenge: Challenge, with response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) async throws {
        try await respond(
            toChallenge: challenge.id, with: response, isKept: isKept, expiresMilliseconds: expiresMilliseconds)
    }

    public func respond(
        toChallenge id: UInt64, with response: ChallengeResponse, isKept: Bool = false,
        expiresMilliseconds: Int64? = nil
    ) async throws {
        let arena = Arena()
        var value = try response.value(arena, isKept: isKept, expiresMilliseconds: expiresMilliseconds)
        try await verb { bh_session_respond($0, id, &value, BH_START, $1) } take: { _ in }
    }

    // MARK: Progress

    /// Live readings of the running tasks, the newest of each; at most 1,024 tasks are followed at a time. For one
    /// reader of each `Session`. It does not end by itself.
    ///
    /// - Parameter interval: at most one reading of a task in so long: 100 milliseconds to a minute.
    public func progress(every interval: Duration = .milliseconds(500)) -> ProgressSequence {
        ProgressSequence(session: self, interval: interval)
    }

    // MARK: Within

    /// From now on readings come at this interval; 0 ends them.
    func watchProgress(_ milliseconds: UInt32) async throws {
        try await verb { bh_session_watch_progress($0, milliseconds, BH_START, $1) } take: { _ in }
    }

    /// The readings that were not returned yet.
    func pollProgress() throws(BackhaulError) -> [TaskProgress] {
        let handle = try open()
        // Unsafe: an opaque handle, never dereferenced here.
        var batch: OpaquePointer?
        try check { error in bh_session_poll_progress(handle.pointer, 0, &batch, error) }
        return Batch(batch).progress()
    }

    /// Waits until there are readings.
    func progressReady() async throws {
        try await driver.readable(progressDescriptor) { [weak self] in self?.isClosed.withLock { $0 } == false }
    }
}
