internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The end of an attempt of a download.
extension DownloadRunner {
    func conclude(_ conclusion: DownloadMachine.Conclusion, _ checkpoint: Checkpoint?) {
        recordMissingSpace(conclusion, checkpoint)
        switch conclusion {
        case .succeeded:
            CrashPoint.afterPlace.reach()
            judgeUplink(nil)
            end(success, with: recordRepresentation())
        case .failed(let failure):
            judgeUplink(failure)
            end(Outcome(state: .failed, failure: failure), with: checkpoint == nil ? recordLeftPart() : retainPart())
        case .retry(let failure, let reason, let retryAfter, let fromZero):
            var failed = FailedAttempt(failure)
            failed.reason = reason
            failed.fromZero = fromZero
            failed.hasCompleteFile = machine.hasCompleteFile
            failed.retryAfterSeconds = retryAfter
            failed.isOriginPaused = retryAfter != nil && head?.demandedDelay?.pausesOrigin == true
            retry(failed, checkpoint)
        case .credential(let authChallenge):
            // The page may be the portal of a network, which sends all requests there.
            if let head, (200...299).contains(head.status), attempt.redirectTarget(head) != nil {
                judgeUplink(Failure(.unexpectedType, ""))
            }
            attempt.emit(.decideParking(authChallenge, checkpoint))
        case .stopped: stop(checkpoint)
        }
    }

    var storagePath: String { location.destination.path }

    private func recordLeftPart() -> (@Sendable (Transaction) throws(Failure) -> Void)? {
        guard isPartLeft else { return nil }
        let id = attempt.task.id
        return { (transaction) throws(Failure) in try transaction.leftovers.addUnremovedPart(of: id) }
    }

    /// Retains the part file for a later task whose URL has not expired.
    private func retainPart() -> @Sendable (Transaction) throws(Failure) -> Void {
        let (id, clocks) = (attempt.task.id, attempt.services.runtime.clocks)
        mustSweep = true
        return { (transaction) throws(Failure) in
            try transaction.leftovers.retainPart(
                of: id, until: clocks.wallMilliseconds + Limits.retainedPartMilliseconds)
        }
    }

    private var success: Outcome {
        var outcome = Outcome(state: .succeeded, path: location.destination.path + (machine.fileName ?? ""))
        outcome.size = machine.size ?? machine.offset
        outcome.checksum = machine.checksum
        // If the task has downloaded a file, the response is already recorded: this was done before the file got its
        // final name. If the server has confirmed that the existing file is current, the response is recorded here.
        if machine.isUnchanged, let head { outcome.response = ResponseSummary(head, attempt.authentication.secrets) }
        return outcome
    }

    /// Notes how much space was missing when the file system was full. The next attempt checks for this space before
    /// its request.
    private func recordMissingSpace(_ conclusion: DownloadMachine.Conclusion, _ checkpoint: Checkpoint?) {
        guard case .retry(_, reason: .diskFull, _, _) = conclusion else {
            if attempt.terms.neededSpace != nil { attempt.emit(.fileSystemHasSpace) }
            return
        }
        let size = machine.size ?? checkpoint?.size
        attempt.emit(.fileSystemIsFull(missing: size.map { $0 - min($0, checkpoint?.syncedOffset ?? 0) }))
    }

    /// Records the file at its final path. With this record, a later request for the same path can be conditional: the
    /// server sends the file only if the file on the server has changed.
    private func recordRepresentation() -> (@Sendable (Transaction) throws(Failure) -> Void)? {
        let request = attempt.task.request
        guard request.hasOptions, request.options.isOnlyIfChanged, let placed else { return nil }
        let (id, session) = (attempt.task.id, attempt.task.session)
        let (path, url) = (location.destination.path, request.url)
        return { (transaction) throws(Failure) in
            try transaction.destinations.recordRepresentation(
                of: id, at: path, of: url, in: session, inode: placed.inode, size: placed.size,
                modifiedNanoseconds: placed.modifiedNanoseconds)
        }
    }
}
