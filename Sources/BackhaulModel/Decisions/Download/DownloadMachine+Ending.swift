/// The functions that end an attempt, which is one run of a download. At each end, the state machine stops the transfer
/// and releases the slot. Then it concludes the attempt: it decides the result of the attempt, and the runner commits
/// this result.
extension DownloadMachine {
    /// Enters the next state. If the transfer runs and must not run in the next state, stops the transfer. If the next
    /// state does not hold the slot, releases the slot.
    mutating func enter(_ next: State) -> [Action] {
        let last = state
        state = next
        return (last.hasRunningTransfer && !next.hasRunningTransfer ? [.stopTransfer] : [])
            + (last.holdsSlot && !next.holdsSlot ? [.releaseSlot] : [])
    }

    mutating func transferFailed(_ failure: Failure, _ isTransient: Bool) -> [Action] {
        guard case .exchanging(let exchange, _) = state else { return [] }
        state = .exchanging(exchange, .ended)
        switch exchange {
        case .requesting, .forgetting, .naming, .receiving:
            guard isTransient || policy.retriesPermanent(failure) else { return discard(.failed(failure)) }
            return saveAndConclude(.retry(failure, reason: .retry, retryAfterSeconds: nil, fromZero: false))
        case .refusing(let response): return refuse(response.refusal)
        case .recheckingDestinationFile: return []
        }
    }

    /// Ends the attempt because its response is not accepted.
    mutating func refuse(_ refusal: Refusal) -> [Action] {
        // The body of a response may show that the URL has expired (`RefreshPolicy`).
        if case .authChallenge(let found) = challenge { return saveAndConclude(.credential(found)) }
        return switch refusal {
        case .again(let failure): retry(failure, fromZero: false)
        case .credential(let authChallenge): saveAndConclude(.credential(authChallenge))
        case .final(let failure) where policy.retriesPermanent(failure) || hasExpiredCredentials:
            retry(failure, fromZero: false)
        case .final(let failure) where mayContinueLater: conclude(.failed(failure))
        case .final(let failure): discard(.failed(failure))
        }
    }

    /// Whether a later task with another URL may continue the part file, because the response may mean that the URL has
    /// expired, and the checkpoint can prove that the other URL has the same file.
    private var mayContinueLater: Bool {
        guard terms.isContinuable, let checkpoint, let head, [400, 401, 403, 404, 410].contains(head.status) else {
            return false
        }
        return terms.checksum != nil || checkpoint.validator.entityTag != nil && checkpoint.size != nil
    }

    mutating func retry(_ failure: Failure, fromZero: Bool) -> [Action] {
        let conclusion = Conclusion.retry(
            failure, reason: .retry, retryAfterSeconds: head?.retryAfterSeconds, fromZero: fromZero)
        return fromZero ? discard(conclusion) : saveAndConclude(conclusion)
    }

    /// Keeps the bytes with which a later attempt can continue, and concludes the attempt.
    mutating func saveAndConclude(_ conclusion: Conclusion) -> [Action] {
        switch state {
        case .exchanging(.forgetting, _): return discard(conclusion)
        case .exchanging(.receiving(var reception), _):
            guard reception.isResumable else { return discard(conclusion) }
            guard counters.offset > reception.startOffset else { return conclude(conclusion) }
            let needsSecondSync = reception.sync.isUnderWay
            let actions = flush(&reception) + sync(&reception)
            let saving = Saving(conclusion: conclusion, reception: reception, needsSecondSync: needsSecondSync)
            return enter(.saving(saving)) + actions
        default: return conclude(conclusion)
        }
    }

    /// Removes all bytes, including the bytes of earlier attempts, and concludes the attempt.
    mutating func discard(_ conclusion: Conclusion) -> [Action] { removePart(entering: .discarding(conclusion)) }

    private mutating func removePart(entering next: State) -> [Action] {
        checkpoint = nil
        counters.madeProgress = false
        return enter(next) + [.discardPart]
    }

    mutating func discarded() -> [Action] {
        switch state {
        case .discarding(let conclusion): conclude(conclusion, partIsGone: true)
        case .removing: close()
        default: []
        }
    }

    /// Concludes the attempt. `preparations`: the actions that come before the commit of the conclusion.
    mutating func conclude(
        _ conclusion: Conclusion, partIsGone: Bool = false, after preparations: [Action] = []
    ) -> [Action] {
        let concluding = Concluding(
            conclusion: conclusion, partIsGone: partIsGone, hasCompleteFile: hasCompleteFile)
        return enter(.concluding(concluding)) + preparations + [.conclude(conclusion, checkpoint)]
    }

    mutating func concluded() -> [Action] {
        guard case .concluding(let concluding) = state else { return [] }
        // If the task was cancelled during the commit, and the part file still exists, the part file is removed.
        if concluding.isCancelled, !concluding.partIsGone { return removePart(entering: .removing) }
        return close()
    }

    mutating func retryRefused() -> [Action] {
        guard case .concluding(let concluding) = state, let failure = concluding.conclusion.retriedFailure else {
            return []
        }
        if concluding.isCancelled { return discard(.stopped) }
        return mayContinueLater ? conclude(.failed(failure)) : discard(.failed(failure))
    }

    private mutating func close() -> [Action] {
        state = .over
        return [.closePart]
    }

    // MARK: Failures of the disk

    mutating func diskFailed(_ failure: Failure) -> [Action] {
        switch state {
        case .preparing(.ready), .concluding, .over: return []
        // The failed action is the removal of the part file, or an earlier action. In both cases, the attempt does not
        // use the part file any more.
        case .discarding, .removing: return discarded()
        case .finishing(_, isCancelled: true): return discard(.stopped)
        case .saving(let saving) where saving.conclusion == .stopped:
            return conclude(.stopped, after: revertToSynced(after: failure))
        case .preparing, .exchanging, .saving, .finishing: break
        }
        switch failure.status {
        case .storageAway: return waitForStorage(failure)
        // The file is complete. It gets its name when the destination can be used again.
        case .destinationUnavailable where hasCompleteFile: return waitForStorage(failure)
        case .destinationExists, .destinationUnavailable, .tooLarge:
            return discard(.failed(failure))
        case .badResponse, .connectionLost:
            // The seal fails with these statuses if the part file does not have the length that it should have.
            return discard(.retry(failure, reason: .retry, retryAfterSeconds: nil, fromZero: true))
        default:
            if let expiry, expiry.status == .resourceTimeout { return discard(.failed(expiry)) }
            let reason: WaitReason = failure.status == .diskFull ? .diskFull : .retry
            return conclude(
                .retry(failure, reason: reason, retryAfterSeconds: nil, fromZero: false),
                after: revertToSynced(after: failure))
        }
    }

    /// Whether the file is complete, and only needs its final name. If so, the next attempt sends no request.
    public var hasCompleteFile: Bool {
        switch state {
        case .preparing(.checkingSealedFile), .finishing(.placing, _): true
        case .concluding(let concluding): concluding.hasCompleteFile
        default: false
        }
    }

    /// Why the task fails if its complete file cannot get its name; nil: the task waits.
    private var expiry: Failure? {
        switch state {
        case .preparing(.checkingSealedFile(_, let expiry)), .finishing(.placing(let expiry), _): expiry
        default: nil
        }
    }

    private mutating func waitForStorage(_ failure: Failure) -> [Action] {
        conclude(
            .retry(failure, reason: .storage, retryAfterSeconds: nil, fromZero: false),
            after: revertToSynced(after: failure))
    }

    /// Truncates the part file to the bytes that earlier syncs made durable. After a failed sync, only these bytes are
    /// trusted. The file is truncated at once. So if a crash comes before the conclusion is durable, the file has only
    /// these bytes.
    private mutating func revertToSynced(after failure: Failure) -> [Action] {
        guard let synced = checkpoint?.syncedOffset else { return [] }
        switch state {
        case .preparing(.opening):
            if failure.status == .diskFailed { checkpoint?.bootID = "" }
            return []
        case .exchanging(.receiving, _), .saving, .finishing(.sealing, _):
            checkpoint?.bootID = ""
            return [.openPart(isSameBoot: false, syncedOffset: synced)]
        // In the other states, no byte was written since the last sync, or the file is sealed (complete and synced).
        default:
            return []
        }
    }

    // MARK: Cancel, stop, expire

    mutating func cancel() -> [Action] {
        switch state {
        // The state machine ends the attempt when it gets the result of the present step.
        case .finishing(let step, _): state = .finishing(step, isCancelled: true)
        case .concluding(var concluding):
            concluding.isCancelled = true
            state = .concluding(concluding)
        case .discarding: state = .discarding(.stopped)
        case .removing, .over: break
        case .preparing, .exchanging, .saving: return discard(.stopped)
        }
        return []
    }

    mutating func stop() -> [Action] {
        switch state {
        case .exchanging(.receiving, _): saveAndConclude(.stopped)
        case .preparing, .exchanging: conclude(.stopped)
        case .saving, .finishing, .discarding, .concluding, .removing, .over: []
        }
    }

    mutating func expire(_ failure: Failure) -> [Action] {
        switch state {
        case .preparing(.ready):
            // The store records a finish intent when all bytes have come. So if the store has an intent, all bytes had
            // come before a crash, and the engine may still give the file its final name.
            return intent.map { checkSealedFile($0, expiry: failure) } ?? discard(.failed(failure))
        case .preparing(.checkingSealedFile(let intent, _)):
            state = .preparing(.checkingSealedFile(intent, expiry: failure))
            return []
        case .preparing, .exchanging: return discard(.failed(failure))
        case .saving, .finishing, .discarding, .concluding, .removing, .over: return []
        }
    }
}

extension DownloadMachine.Conclusion {
    /// The failure with which the task ends if there is no further attempt.
    fileprivate var retriedFailure: Failure? {
        switch self {
        case .retry(let failure, _, _, _): failure
        case .credential(let authChallenge): authChallenge.failure
        case .succeeded, .failed, .stopped: nil
        }
    }
}
