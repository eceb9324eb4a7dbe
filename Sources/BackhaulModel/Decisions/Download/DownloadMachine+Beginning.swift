/// From the start of an attempt to the answer's head.
extension DownloadMachine {
    mutating func start() -> [Action] {
        guard phase == .ready else { return [] }
        if let intent {
            phase = .lookingForSealed(intent)
            return [.lookForSealed(intent)]
        }
        guard let checkpoint else { return request(from: 0) }
        phase = .opening
        return [.openPart(isSameBoot: isSameBoot(checkpoint), syncedOffset: checkpoint.syncedOffset)]
    }

    /// A boot without a name is like no other.
    private func isSameBoot(_ checkpoint: Checkpoint) -> Bool { !bootID.isEmpty && checkpoint.bootID == bootID }

    mutating func lookedForSealed(_ isThere: Bool) -> [Action] {
        guard case .lookingForSealed(let intent) = phase else { return [] }
        if isThere {
            begin(at: intent.size)
            size = intent.size
            phase = .placing
            return releaseTurn() + [.place(intent)]
        }
        if let expiry { return endTransfer() + discard(.failed(expiry)) }
        return forget()
    }

    mutating func opened(_ length: UInt64) -> [Action] {
        guard phase == .opening, let checkpoint else { return [] }
        // Shorter than what was synced, or longer than what may be trusted or than the file: not what we left there.
        guard length > 0, length >= checkpoint.syncedOffset,
            length == checkpoint.syncedOffset || isSameBoot(checkpoint), length <= checkpoint.size ?? .max
        else { return forget() }
        validator = checkpoint.validator
        if length == checkpoint.size {
            begin(at: length)
            return seal()
        }
        guard validator.ifRange != nil else { return forget() }
        size = checkpoint.size
        return request(from: length)
    }

    private mutating func forget() -> [Action] {
        checkpoint = nil
        phase = .forgetting
        return [.forgetCheckpoint]
    }

    mutating func forgotten() -> [Action] {
        guard phase == .forgetting else { return [] }
        // Nothing was asked for yet: the part file itself turned out to be of no use.
        guard head != nil else { return [.restartPart] + request(from: 0) }
        phase = .receiving
        isPaused = false
        guard !transferIsOver else { return [.restartPart] + bodyEnded() }
        return [.restartPart, .resumeTransfer] + flushWhenDue()
    }

    private mutating func request(from length: UInt64) -> [Action] {
        begin(at: length)
        phase = .requesting
        transferIsOver = false
        return [.startTransfer(offset: length, ifRange: length > 0 ? validator.ifRange : nil)]
    }

    private mutating func begin(at length: UInt64) {
        offset = length
        written = length
        startOffset = length
        furthest = max(furthest, length)
        synced = min(checkpoint?.syncedOffset ?? 0, length)
    }

    private func demand(of head: ResponseHead) -> AuthenticationDemand? {
        switch question {
        case .asTheHeadSays: asksForCredentials ? AuthenticationDemand(head) : nil
        case .nothing: nil
        case .demand(let demand): demand
        }
    }

    mutating func received(_ head: ResponseHead) -> [Action] {
        guard phase == .requesting else { return [] }
        self.head = head
        if let demand = demand(of: head) {
            refusal = .credential(demand)
            phase = .receivingErrorBody
            return []
        }
        switch ResponsePlan.decide(head, offset: offset, known: checkpoint) {
        case .append(let size, let through):
            self.size = size
            bodyEnd = through
            phase = .receiving
            return []
        case .startOver(let size, let validator):
            self.size = size
            self.validator = validator
            bodyEnd = size
            let hadCheckpoint = checkpoint != nil
            checkpoint = nil
            begin(at: 0)
            guard hadCheckpoint else {
                phase = .receiving
                return []
            }
            isPaused = true
            return forget()
        case .whole:
            return seal()
        case .retry(let failure, let fromZero):
            guard failure.status == .httpStatus else { return retry(failure, fromZero: fromZero) }
            // Should this be the last try, the host will want to read what the server said.
            refusal = .again(failure)
            phase = .receivingErrorBody
            return []
        case .fail(let failure):
            refusal = .final(failure)
            phase = .receivingErrorBody
            return []
        }
    }
}
