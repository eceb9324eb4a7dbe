/// The body on its way through the buffer to the disk.
extension DownloadMachine {
    mutating func received(_ count: Int) -> [Action] {
        let count = UInt64(clamping: count)
        bytesReceived = bytesReceived.adding(count)
        switch phase {
        case .receiving, .forgetting:
            // Bytes that come although the transfer was told to wait are kept: they are in the buffer.
            guard head != nil else { return [] }
            offset = offset.adding(count)
            buffered = buffered.adding(count)
            if let bodyEnd, offset > bodyEnd {
                let failure = tooMuch(bodyEnd)
                // A status that has no body has none the next time either.
                if bodyEnd == 0, let head, terms.hasNoBody(head.status) {
                    return endTransfer() + discard(.failed(failure))
                }
                return retry(failure, fromZero: true)
            }
            if let refusal = terms.refusal(ofAtLeast: offset) { return refuse(refusal) }
            return phase == .receiving ? flushWhenDue() : []
        case .receivingErrorBody:
            return bytesReceived >= limits.errorBody ? refuse() : []
        default:
            return []
        }
    }

    private func tooMuch(_ bodyEnd: UInt64) -> Failure {
        if let head, bodyEnd == 0, terms.hasNoBody(head.status) {
            return Failure(.badResponse, "the server sent a body with status \(head.status), which has none")
        }
        return Failure(.badResponse, "the server sent more bytes than it announced: \(offset), not \(bodyEnd)")
    }

    /// The body shows that this is not the file that is wanted.
    private mutating func refuse(_ refusal: Failure) -> [Action] {
        refusal.status == .sizeMismatch ? mismatched(refusal) : endTransfer() + discard(.failed(refusal))
    }

    mutating func flushWhenDue() -> [Action] {
        if !wantsBytes { isPaused = true }
        return buffered >= limits.flush || isPaused ? flush() : []
    }

    mutating func aged() -> [Action] {
        guard phase == .receiving else { return [] }
        isSlow = true
        // A small file needs a checkpoint from now on: more may have come already than may be without one.
        if !wantsBytes { isPaused = true }
        return flush()
    }

    mutating func flush() -> [Action] {
        guard buffered > 0 else { return [] }
        buffered = 0
        return [.flush]
    }

    mutating func appended(_ length: UInt64, _ stamp: PartStamp?) -> [Action] {
        written = min(length, offset)
        part = stamp
        guard phase == .receiving else { return [] }
        var actions = resumeWhenDue()
        // Without a validator a sync makes nothing durable that counts; later ones spread the load of the last.
        let step = hasSynced || validator.ifRange == nil ? limits.laterSync : limits.firstSync
        let isNearlyWhole = size.map { $0 - min($0, written) < limits.firstSync } ?? false
        if written - min(written, synced) >= step, !isNearlyWhole { actions += sync() }
        return actions + recordWhenDue()
    }

    private mutating func resumeWhenDue() -> [Action] {
        guard isPaused, wantsBytes, offset - written <= limits.outstanding / 2 else { return [] }
        isPaused = false
        return [.resumeTransfer]
    }

    /// Nothing says yet of which representation the bytes are that a crash would leave.
    var needsFirstCheckpoint: Bool {
        startOffset == 0 && !hasRecorded && validator.ifRange != nil && (isSlow || size ?? .max > limits.firstSync)
    }

    /// Only what the disk has told to be written may come under a validator: before that the part file may still have
    /// another's bytes.
    private mutating func recordWhenDue() -> [Action] {
        // After a sync comes a checkpoint anyway.
        guard needsFirstCheckpoint, !isRecording, !isSyncing, written >= limits.firstCheckpoint else { return [] }
        return recordCheckpoint()
    }

    private mutating func recordCheckpoint() -> [Action] {
        guard let checkpoint = noteCheckpoint() else { return [] }
        isRecording = true
        return [.recordCheckpoint(checkpoint)]
    }

    mutating func checkpointRecorded() -> [Action] {
        guard isRecording else { return [] }
        isRecording = false
        hasRecorded = true
        return phase == .receiving ? resumeWhenDue() : []
    }

    mutating func sync() -> [Action] {
        guard !isSyncing else { return [] }
        isSyncing = true
        ticksSinceSync = 0
        return [.sync]
    }

    mutating func synced(_ length: UInt64, _ checksum: UInt32?) -> [Action] {
        guard isSyncing else { return [] }
        isSyncing = false
        hasSynced = true
        if length >= synced, length <= offset { syncedChecksum = checksum }
        synced = max(synced, min(length, offset))
        guard case .saving(let conclusion) = phase else {
            return phase == .receiving ? recordCheckpoint() : []
        }
        if needsLastSync {
            needsLastSync = false
            return sync()
        }
        noteCheckpoint()
        return conclude(conclusion)
    }

    /// Nil when there is nothing to continue from safely.
    @discardableResult
    private mutating func noteCheckpoint() -> Checkpoint? {
        guard max(written, synced) > 0, validator.ifRange != nil, let url = head?.finalURL else { return nil }
        if synced > furthest {
            madeProgress = true
            furthest = synced
        }
        checkpoint = Checkpoint(
            validator: validator, finalURL: url, size: size, syncedOffset: synced, bootID: bootID, facts: facts,
            part: part, syncedChecksum: syncedChecksum)
        return checkpoint
    }

    mutating func transferComplete() -> [Action] {
        transferIsOver = true
        switch phase {
        case .requesting:
            return retry(Failure(.badResponse, "the transfer ended without an answer"), fromZero: false)
        case .receiving: return bodyEnded()
        case .receivingErrorBody: return refuse()
        default: return []
        }
    }

    mutating func bodyEnded() -> [Action] {
        guard let size, offset != size else {
            // Without a length it is known only now.
            if size == nil, let refusal = terms.refusal(ofSize: offset) { return refuse(refusal) }
            return seal()
        }
        let reason =
            offset == bodyEnd
            ? "the server sent the bytes up to \(offset) of \(size) only"
            : "the answer ended after \(offset) of \(size) bytes"
        return keepForLater(
            .retry(Failure(.connectionLost, reason), reason: .retry, retryAfterSeconds: nil, fromZero: false))
    }

    mutating func tick() -> [Action] {
        if phase == .receivingErrorBody {
            errorTicks += 1
            return errorTicks >= limits.errorTicks ? refuse() : []
        }
        guard phase == .receiving else { return [] }
        ticksSinceSync += 1
        let actions = flush()
        guard validator.ifRange != nil, offset > synced, !hasSynced || ticksSinceSync >= limits.syncTicks else {
            return actions
        }
        return actions + sync()
    }
}

extension UInt64 {
    /// The sum, or the largest number: what servers announce and send must not end the host.
    fileprivate func adding(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
