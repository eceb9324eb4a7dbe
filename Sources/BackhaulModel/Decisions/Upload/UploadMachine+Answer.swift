/// From the request to its answer.
extension UploadMachine {
    mutating func start() -> [Action] {
        guard phase == .ready else { return [] }
        phase = .opening
        return [.openBody]
    }

    mutating func opened() -> [Action] {
        guard phase == .opening else { return [] }
        phase = .sending
        transferIsOver = false
        return [.startTransfer]
    }

    mutating func bodyFailed(_ failure: Failure) -> [Action] {
        guard [.opening, .sending].contains(phase) else { return [] }
        // No descriptors are left, say: that passes. All of a request was not sent, so nothing was done.
        let conclusion =
            failure.status == .outOfResources ? Conclusion.retry(failure, retryAfterSeconds: nil) : .failed(failure)
        return endTransfer() + conclude(conclusion)
    }

    mutating func received(_ head: ResponseHead, _ demand: AuthenticationDemand?) -> [Action] {
        guard phase == .sending else { return [] }
        self.head = head
        if let demand {
            refusal = .credential(demand)
        } else if !policy.acceptedStatuses.contains(head.status) {
            refusal = .retry(Failure.status(of: head), retryAfterSeconds: head.retryAfterSeconds)
        }
        phase = refusal == nil ? .receiving : .receivingErrorBody
        return []
    }

    mutating func received(_ count: Int, _ bodyIsSent: Bool) -> [Action] {
        let (sum, overflow) = bytesReceived.addingReportingOverflow(UInt64(clamping: count))
        bytesReceived = overflow ? .max : sum
        switch phase {
        case .receiving where bytesReceived >= limits.body: return endTransfer() + accept(bodyIsSent)
        case .receivingErrorBody where bytesReceived >= limits.errorBody: return refuse()
        default: return []
        }
    }

    mutating func tick(_ bodyIsSent: Bool) -> [Action] {
        switch phase {
        // The response does not count before the body is sent, so no time limit applies until then.
        case .receiving where bodyIsSent:
            ticks += 1
            return ticks >= limits.bodyTicks ? endTransfer() + accept(bodyIsSent) : []
        case .receivingErrorBody:
            ticks += 1
            return ticks >= limits.errorTicks ? refuse() : []
        default: return []
        }
    }

    mutating func transferComplete(_ bodyIsSent: Bool) -> [Action] {
        transferIsOver = true
        switch phase {
        case .sending:
            let failure = Failure(.badResponse, "the transfer ended without an answer")
            return releaseTurn() + conclude(.retry(failure, retryAfterSeconds: nil))
        case .receiving: return releaseTurn() + accept(bodyIsSent)
        case .receivingErrorBody: return refuse()
        default: return []
        }
    }

    mutating func transferFailed(_ failure: Failure, _ isTransient: Bool) -> [Action] {
        transferIsOver = true
        switch phase {
        case .sending, .receiving:
            let mayPass = isTransient || policy.retriesLasting(failure)
            return releaseTurn() + conclude(mayPass ? .retry(failure, retryAfterSeconds: nil) : .failed(failure))
        // What came of the body is enough to know what the server said.
        case .receivingErrorBody: return refuse()
        default: return []
        }
    }

    /// A response of success before the end of the body does not show how much of the body the server has.
    private mutating func accept(_ bodyIsSent: Bool) -> [Action] {
        guard !bodyIsSent, !policy.tolerances.contains(.earlyResponse) else { return conclude(.succeeded) }
        let status = head?.status ?? 0
        let failure = Failure(
            .connectionLost,
            "the server answered \(status) and took no more of the body, so it may not have all of it; if it always "
                + "does that, let the session tolerate it (early-response)",
            domain: .http, detail: Int64(status))
        return conclude(.retry(failure, retryAfterSeconds: nil))
    }

    private mutating func refuse() -> [Action] {
        guard let refusal else { return [] }
        return endTransfer() + conclude(refusal)
    }
}

/// The ways out.
extension UploadMachine {
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

    mutating func conclude(_ conclusion: Conclusion) -> [Action] {
        phase = .concluding
        switch conclusion {
        case .retry(let failure, _): retriedFailure = failure
        case .credential(let demand): retriedFailure = demand.failure
        default: retriedFailure = nil
        }
        return [.conclude(conclusion)]
    }

    mutating func concluded() -> [Action] {
        guard phase == .concluding else { return [] }
        phase = .over
        return [.close]
    }

    mutating func retryRefused() -> [Action] {
        guard phase == .concluding, let failure = retriedFailure else { return [] }
        return conclude(.failed(failure))
    }

    mutating func leave() -> [Action] {
        switch phase {
        case .ready, .opening, .sending, .receiving, .receivingErrorBody: return endTransfer() + conclude(.left)
        case .concluding, .over: return []
        }
    }

    mutating func expire(_ failure: Failure) -> [Action] {
        switch phase {
        // An answer that is accepted is here already.
        case .receiving, .concluding, .over: return []
        case .ready, .opening, .sending, .receivingErrorBody: return endTransfer() + conclude(.failed(failure))
        }
    }
}
