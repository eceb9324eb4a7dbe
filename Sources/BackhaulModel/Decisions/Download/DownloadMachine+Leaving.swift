/// The ways out. Each ends the transfer, gives the turn back and concludes.
extension DownloadMachine {
    mutating func releaseTurn() -> [Action] {
        guard holdsTurn else { return [] }
        holdsTurn = false
        return [.releaseTurn]
    }

    mutating func endTransfer() -> [Action] {
        guard !transferIsOver else { return releaseTurn() }
        transferIsOver = true
        return [.stopTransfer] + releaseTurn()
    }

    mutating func transferFailed(_ failure: Failure, _ isTransient: Bool) -> [Action] {
        transferIsOver = true
        switch phase {
        case .requesting, .forgetting, .receiving:
            guard isTransient || policy.retriesLasting(failure) else {
                return endTransfer() + discard(.failed(failure))
            }
            return keepForLater(.retry(failure, reason: .retry, retryAfterSeconds: nil, fromZero: false))
        case .receivingErrorBody:
            return refuse()
        default:
            return []
        }
    }

    /// Leaves the task for the answer that is not accepted.
    mutating func refuse() -> [Action] {
        switch refusal {
        case .again(let failure): retry(failure, fromZero: false)
        case .credential(let demand): keepForLater(.credential(demand))
        case .final(let failure) where policy.retriesLasting(failure): retry(failure, fromZero: false)
        case .final(let failure): endTransfer() + discard(.failed(failure))
        case nil: endTransfer() + discard(.failed(Failure(.badResponse, "the server's answer cannot be used")))
        }
    }

    mutating func retry(_ failure: Failure, fromZero: Bool) -> [Action] {
        let conclusion = Conclusion.retry(
            failure, reason: .retry, retryAfterSeconds: head?.retryAfterSeconds, fromZero: fromZero)
        return fromZero ? endTransfer() + discard(conclusion) : keepForLater(conclusion)
    }

    /// Keeps what may be continued and concludes.
    mutating func keepForLater(_ conclusion: Conclusion) -> [Action] {
        let turn = endTransfer()
        switch phase {
        case .forgetting: return turn + discard(conclusion)
        case .receiving where validator.ifRange == nil: return turn + discard(conclusion)
        case .receiving where offset > startOffset:
            phase = .saving(conclusion)
            needsLastSync = isSyncing
            return turn + flush() + sync()
        default: return turn + conclude(conclusion)
        }
    }

    /// Nothing is kept, whatever an earlier attempt may have left there.
    mutating func discard(_ conclusion: Conclusion) -> [Action] {
        buffered = 0
        checkpoint = nil
        madeProgress = false
        phase = .discarding(isCancelled ? .left : conclusion)
        return [.discardPart]
    }

    mutating func discarded() -> [Action] {
        guard case .discarding(let conclusion) = phase else { return [] }
        partIsGone = true
        guard hasConcluded else { return conclude(conclusion) }
        phase = .over
        return [.closePart]
    }

    mutating func conclude(_ conclusion: Conclusion) -> [Action] {
        phase = .concluding
        switch conclusion {
        case .retry(let failure, _, _, _): retriedFailure = failure
        case .credential(let demand): retriedFailure = demand.failure
        default: retriedFailure = nil
        }
        return [.conclude(conclusion, checkpoint)]
    }

    mutating func concluded() -> [Action] {
        guard phase == .concluding else { return [] }
        hasConcluded = true
        // Cancelled after all, and the conclusion has left a part file.
        if isCancelled, !partIsGone { return discard(.left) }
        phase = .over
        return [.closePart]
    }

    mutating func retryRefused() -> [Action] {
        guard phase == .concluding, let failure = retriedFailure else { return [] }
        return discard(.failed(failure))
    }

    // MARK: The disk

    mutating func diskFailed(_ failure: Failure) -> [Action] {
        isSyncing = false
        switch phase {
        case .ready, .concluding, .over: return []
        // Of what was asked for before, or the removal itself: nothing relies on the part file any more.
        case .discarding: return discarded()
        default: break
        }
        let turn = endTransfer()
        if isCancelled { return turn + discard(.left) }
        if phase == .saving(.left) { return turn + goBack(after: failure) + conclude(.left) }
        switch failure.status {
        case .destinationExists, .destinationUnavailable, .tooLarge:
            return turn + discard(.failed(failure))
        case .badResponse, .connectionLost:
            // The part file has not the length that it should have.
            return turn
                + discard(.retry(failure, reason: .retry, retryAfterSeconds: nil, fromZero: true))
        default:
            let reason: WaitReason = failure.status == .diskFull ? .diskFull : .retry
            return turn + goBack(after: failure)
                + conclude(.retry(failure, reason: reason, retryAfterSeconds: nil, fromZero: false))
        }
    }

    /// A failed sync is final for the bytes before it: only what an earlier one confirmed counts. The file is cut there
    /// at once, so that a crash before the conclusion is durable finds no other bytes.
    private mutating func goBack(after failure: Failure) -> [Action] {
        guard let synced = checkpoint?.syncedOffset else { return [] }
        switch phase {
        case .opening:
            if failure.status == .diskFailed { checkpoint?.bootID = "" }
            return []
        case .receiving, .saving, .sealing:
            checkpoint?.bootID = ""
            return [.openPart(isSameBoot: false, syncedOffset: synced)]
        // Nothing was written since, or the file is sealed: whole and synced.
        default:
            return []
        }
    }

    // MARK: What others want

    mutating func cancel() -> [Action] {
        guard phase != .over else { return [] }
        isCancelled = true
        switch phase {
        // Asked again once the answer is here: a refused intent, say.
        case .sealing, .recordingIntent, .placing, .concluding, .over: return []
        case .discarding:
            phase = .discarding(.left)
            return []
        default: return endTransfer() + discard(.left)
        }
    }

    mutating func leave() -> [Action] {
        switch phase {
        case .ready, .opening, .lookingForSealed, .requesting, .forgetting, .receivingErrorBody, .checkingSpace,
            .lookingForFile, .lookingForVersion, .lookingAgain:
            return endTransfer() + conclude(.left)
        case .receiving: return keepForLater(.left)
        default: return []
        }
    }

    mutating func expire(_ failure: Failure) -> [Action] {
        switch phase {
        case .ready where intent != nil:
            // All bytes were there before the crash: not too late to give them their name.
            expiry = failure
            return start()
        case .lookingForSealed:
            expiry = failure
            return []
        case .ready, .opening, .requesting, .forgetting, .receiving, .receivingErrorBody, .checkingSpace,
            .lookingForFile, .lookingForVersion, .lookingAgain:
            return endTransfer() + discard(.failed(failure))
        default: return []
        }
    }
}
