/// The steps from the start of an attempt (one run of an upload) to the response.
extension UploadMachine {
    mutating func start() -> [Action] {
        guard case .ready = state else { return [] }
        if ownPart != nil, let step { return begin(step) }
        return begin(uploadProtocol.firstStep(resource, size: size))
    }

    mutating func opened() -> [Action] {
        guard case .opening(let step) = state else { return [] }
        state = .sending(step)
        return [.startTransfer(step)]
    }

    mutating func bodyFailed(_ failure: Failure) -> [Action] {
        switch state {
        // The response came before the request's body was sent.
        case .receiving where policy.tolerances.contains(.earlyResponse): return conclude(.succeeded)
        case .opening, .sending, .reading, .settling, .receiving: break
        case .ready, .recording, .awaitingParts, .refusing, .concluding, .over: return []
        }
        // Perhaps the file is another one of the same size and time. The next attempt begins with its first byte, or
        // fails if the file was changed.
        if failure.status == .bodyChanged, step?.continuesBody == true {
            resource = nil
            return [.abandon] + conclude(.startOver(failure))
        }
        // A lack of resources, such as descriptors, is temporary, a drive may come back, and a disk may read at the
        // next attempt.
        let isTemporary = [.outOfResources, .storageAway, .diskFailed].contains(failure.status)
        return conclude(isTemporary ? .retry(failure) : .failed(failure))
    }

    mutating func received(
        _ head: ResponseHead, _ authChallenge: AuthenticationChallenge?, _ location: String?, _ wasBodySent: Bool
    ) -> [Action] {
        guard case .sending(let step) = state else { return [] }
        self.head = head
        if !policy.acceptedStatuses.contains(head.status) { noteDelay(head.demandedDelay) }
        if let authChallenge {
            state = .refusing(.credential(authChallenge), ticks: 0)
            return []
        }
        guard !uploadProtocol.readsBody(of: head, after: step) else {
            state = .reading(step, ticks: 0)
            return []
        }
        let verdict = uploadProtocol.verdict(
            head, location: location, after: step, wasBodySent: wasBodySent, resource: resource, url: url, size: size)
        return take(verdict, head)
    }

    /// Judges the answer to the upload by the policy.
    mutating func judge(_ head: ResponseHead) {
        if !policy.acceptedStatuses.contains(head.status) {
            state = .refusing(.retry(.status(of: head, opensChallenges: opensChallenges)), ticks: 0)
        } else if !policy.acceptsType(of: head), let failure = PageSuspicion.refusal(ofUpload: head, to: url) {
            state = .refusing(.retry(failure), ticks: 0)
        } else {
            state = .receiving(ticks: 0)
        }
    }

    mutating func received(_ count: Int, _ wasBodySent: Bool) -> [Action] {
        bytesReceived = bytesReceived.saturatingAdd(UInt64(clamping: count))
        bodyBytes = bodyBytes.saturatingAdd(UInt64(clamping: count))
        switch state {
        case .reading(let step, _) where bodyBytes > S3Document.sizeLimit: return judgeBody(after: step, wasBodySent)
        case .receiving where bodyBytes >= limits.body: return conclude(success(wasBodySent))
        case .refusing(let refusal, _) where bodyBytes >= limits.errorBody: return conclude(refusal)
        case .settling(let step, let records, _) where bodyBytes >= limits.errorBody:
            return proceed(with: step, records: records)
        default: return []
        }
    }

    /// Notes that the body of the response has shown that the URL has expired.
    public mutating func refuse(with refresh: AuthenticationChallenge) {
        if case .refusing(_, let ticks) = state { state = .refusing(.credential(refresh), ticks: ticks) }
    }

    mutating func tick(_ wasBodySent: Bool) -> [Action] {
        switch state {
        // An accepted response may come before the request's body is sent. The time limit of the response begins only
        // when the request's body is sent.
        case .receiving(let ticks) where wasBodySent:
            state = .receiving(ticks: ticks + 1)
            return ticks + 1 >= limits.bodyTicks ? conclude(success(wasBodySent)) : []
        // Only an error has a time limit: before the result of a completed upload, S3 may send spaces for minutes.
        case .reading(let step, let ticks) where head?.isSuccess == false:
            state = .reading(step, ticks: ticks + 1)
            return ticks + 1 >= limits.errorTicks ? judgeBody(after: step, wasBodySent) : []
        case .refusing(let refusal, let ticks):
            state = .refusing(refusal, ticks: ticks + 1)
            return ticks + 1 >= limits.errorTicks ? conclude(refusal) : []
        case .settling(let step, let records, let ticks):
            state = .settling(step, records: records, ticks: ticks + 1)
            return ticks + 1 >= limits.errorTicks ? proceed(with: step, records: records) : []
        default: return []
        }
    }

    mutating func transferComplete(_ wasBodySent: Bool) -> [Action] {
        switch state {
        case .sending:
            let failure = Failure(.badResponse, "the transfer ended without a response")
            return conclude(.retry(failure), transferHasEnded: true)
        case .reading(let step, _): return judgeBody(after: step, wasBodySent) + transferComplete(wasBodySent)
        case .receiving:
            // The response to a question for the offset replaces one that was lost. A body that was read for the
            // verdict is not kept.
            let isProbe = if case .probe? = step { true } else { false }
            hasWholeResponse = !isProbe && responseBody.isEmpty && bodyBytes <= Limits.responseBodySize
            return conclude(success(wasBodySent), transferHasEnded: true)
        case .refusing(let refusal, _): return conclude(refusal, transferHasEnded: true)
        case .settling(let step, let records, _): return proceed(with: step, records: records, transferHasEnded: true)
        case .ready, .opening, .recording, .awaitingParts, .concluding, .over: return []
        }
    }

    mutating func transferFailed(_ failure: Failure, _ isTransient: Bool) -> [Action] {
        switch state {
        case .reading(let step, _) where head?.isSuccess == false:
            return judgeBody(after: step, true) + transferFailed(failure, isTransient)
        case .sending, .reading, .receiving:
            let mayPass = isTransient || policy.retriesPermanent(failure)
            return conclude(
                mayPass ? .retry(failure) : .failed(failure), transferHasEnded: true)
        // The body of an error response only explains the failure. So if the transfer fails inside this body, the
        // received part is enough.
        case .refusing(let refusal, _): return conclude(refusal, transferHasEnded: true)
        case .settling(let step, let records, _): return proceed(with: step, records: records, transferHasEnded: true)
        case .ready, .opening, .recording, .awaitingParts, .concluding, .over: return []
        }
    }

    /// The conclusion after a successful response. If the response came before the request's body was sent, the
    /// response does not show how much of this body the server has.
    private func success(_ wasBodySent: Bool) -> Conclusion {
        guard !wasBodySent, !policy.tolerances.contains(.earlyResponse) else { return .succeeded }
        let status = head?.status ?? 0
        let failure = Failure(
            .connectionLost,
            "the server responded with status \(status) before it had read the whole body, so it may not have all of "
                + "it; if it always does that, set tolerances to BH_TOLERATE_EARLY_RESPONSE",
            domain: .http, detail: Int64(status))
        return .retry(failure)
    }
}

/// The functions that end an attempt.
extension UploadMachine {
    /// Stops the transfer if it still runs, and releases the slot.
    mutating func conclude(_ conclusion: Conclusion, transferHasEnded: Bool = false) -> [Action] {
        let last = state
        state = .concluding(conclusion)
        return (last.hasTransfer && !transferHasEnded ? [.stopTransfer] : [])
            + (parts?.hasPartsInFlight == true ? [.stopExtraParts] : []) + (last.holdsSlot ? [.releaseSlot] : []) + [
                .conclude(conclusion)
            ]
    }

    mutating func concluded() -> [Action] {
        guard case .concluding = state else { return [] }
        state = .over
        return [.close]
    }

    mutating func retryRefused() -> [Action] {
        switch state {
        case .concluding(.retry(let failure)), .concluding(.startOver(let failure)): conclude(.failed(failure))
        case .concluding(.credential(let authChallenge)): conclude(.failed(authChallenge.failure))
        default: []
        }
    }

    mutating func stop() -> [Action] {
        switch state {
        case .settling where ownPart != nil: conclude(.sentPart)
        case .ready, .opening, .recording, .sending, .reading, .settling, .awaitingParts, .receiving, .refusing:
            conclude(.stopped)
        case .concluding, .over: []
        }
    }

    mutating func expire(_ failure: Failure, _ wasBodySent: Bool) -> [Action] {
        switch state {
        // After an accepted response to the whole body, the upload still succeeds. This event replaces a tick.
        case .receiving where wasBodySent: tick(wasBodySent)
        case .receiving where policy.tolerances.contains(.earlyResponse): conclude(.succeeded)
        case .concluding, .over: []
        case .ready, .opening, .recording, .sending, .reading, .settling, .awaitingParts, .receiving, .refusing:
            conclude(.failed(failure))
        }
    }
}
