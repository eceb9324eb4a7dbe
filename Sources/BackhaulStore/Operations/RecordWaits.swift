public import BackhaulModel

/// Times in which tasks were held back, as rows: one for all tasks that wait for the same, however many.
extension Transaction {
    /// `now`: Unix milliseconds. Of each session the newest `sharedWaitLimit` are kept, and as many again of single
    /// tasks.
    @discardableResult
    public func beginWait(
        _ scope: WaitScope, _ reason: WaitReason, _ sentence: String, now: Int64
    ) throws(Failure) -> WaitID {
        let wait = Wait(reason, sentence, beganMilliseconds: now, endedMilliseconds: nil)
        let id = try tables.waits.insert(wait, of: scope)
        // In batches: each costs a walk over those that stay.
        if id.rawValue.isMultiple(of: 16) { try trimWaits(of: scope.session) }
        return id
    }

    /// Does nothing for one that has ended or was removed.
    public func endWait(_ id: WaitID, now: Int64) throws(Failure) { try tables.waits.end(id, now: now) }

    /// Those that last: of this engine, or of one that is gone.
    public func openWaits() throws(Failure) -> [OpenWait] { try tables.waits.open() }

    /// Suspended tasks of the selection are about to be resumed. Of thousands at once none gets a row: they would leave
    /// no room for other waits.
    func recordSuspensionsOfSelectedTasks(_ session: SessionID, count: Int, now: Int64) throws(Failure) {
        guard count <= Self.suspensionLimit else { return }
        if try tables.waits.insertSuspensionsOfSelected(now: now) { try trimWaits(of: session) }
    }

    /// Tasks that wait for the challenge are about to go on. Of thousands at once none gets a row.
    func recordAnswered(_ challenge: Challenge, in session: SessionID, now: Int64) throws(Failure) {
        guard challenge.waitingTasks <= Self.suspensionLimit else { return }
        if try tables.waits.insertCredentialWaits(for: challenge, now: now) { try trimWaits(of: session) }
    }

    /// Waits of single tasks that are over. Of thousands at once none gets a row.
    func record(_ waits: [(task: TaskID, wait: Wait)], in session: SessionID) throws(Failure) {
        guard !waits.isEmpty, waits.count <= Self.suspensionLimit else { return }
        for (task, wait) in waits { _ = try tables.waits.insert(wait, of: WaitScope(session, task: task)) }
        try trimWaits(of: session)
    }

    private func trimWaits(of session: SessionID) throws(Failure) {
        try tables.waits.trim(session, shared: Self.sharedWaitLimit, single: Self.singleWaitLimit)
    }

    static let sharedWaitLimit: Int64 = 1_000
    private static let singleWaitLimit: Int64 = 10_000
    private static let suspensionLimit = 1_000
}
