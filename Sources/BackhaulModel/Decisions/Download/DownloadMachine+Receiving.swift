/// Passes the bytes of the body through the buffer to the part file, and records checkpoints. A *checkpoint* is what
/// the store records about the part file, so that a later attempt can continue it.
extension DownloadMachine {
    /// Returns which of the next `count` bytes of the body belong to the file. The others count as received.
    public mutating func bytesOfFile(among count: Int) -> Range<Int> {
        guard case .exchanging(.receiving(var reception), let transfer) = state, let skipped = reception.skipped else {
            return 0..<count
        }
        let first = Int(clamping: min(skipped, UInt64(clamping: count)))
        reception.skipped = skipped - UInt64(clamping: first)
        state = .exchanging(.receiving(reception), transfer)
        let missing = file.size.map { $0 - min(counters.offset, $0) } ?? .max
        let kept = first..<first + Int(clamping: min(missing, UInt64(clamping: count - first)))
        counters.bytesReceived = counters.bytesReceived.saturatingAdd(UInt64(clamping: count - kept.count))
        return kept
    }

    mutating func received(_ count: Int) -> [Action] {
        let count = UInt64(clamping: count)
        counters.bytesReceived = counters.bytesReceived.saturatingAdd(count)
        switch state {
        case .exchanging(.receiving(var reception), let transfer):
            if let actions = take(count, &reception) { return actions }
            // The rest of the body does not belong to the file.
            if reception.skipped != nil, counters.offset == file.size { return seal() }
            let actions = flushWhenDue(&reception)
            state = .exchanging(.receiving(reception), transfer)
            return actions
        // In these two states the transfer is paused, but it may still deliver bytes. They count, because they are in
        // the buffer.
        case .exchanging(.forgetting(var reception), let transfer):
            if let actions = take(count, &reception) { return actions }
            state = .exchanging(.forgetting(reception), transfer)
            return []
        case .exchanging(.naming(var reception), let transfer):
            if let actions = take(count, &reception) { return actions }
            state = .exchanging(.naming(reception), transfer)
            return []
        case .exchanging(.refusing(let response), _):
            return counters.bytesReceived >= limits.errorBody ? refuse(response.refusal) : []
        default:
            return []
        }
    }

    /// Counts bytes that were put into the buffer. Returns nil if these bytes can belong to the file. Otherwise,
    /// returns the actions that end the attempt.
    private mutating func take(_ count: UInt64, _ reception: inout Reception) -> [Action]? {
        counters.offset = counters.offset.saturatingAdd(count)
        reception.buffered = reception.buffered.saturatingAdd(count)
        if let bodyEnd = reception.bodyEnd, counters.offset > bodyEnd {
            // If this response must have no body, the next attempt would have the same result. So the task fails.
            if bodyEnd == 0, let head, terms.hasNoBody(head.status) {
                let reason = "the server sent a body with status \(head.status), which has none"
                return discard(.failed(Failure(.badResponse, reason)))
            }
            let reason = "the server sent more bytes than it announced: \(counters.offset), not \(bodyEnd)"
            return retry(Failure(.badResponse, reason), fromZero: true)
        }
        return terms.refusal(ofAtLeast: counters.offset).map { reject($0) }
    }

    /// Ends the attempt, because the body shows that this is not the file that the program has requested.
    private mutating func reject(_ failure: Failure) -> [Action] {
        failure.status == .sizeMismatch ? mismatched(failure) : discard(.failed(failure))
    }

    /// Whether the transfer may continue. If not, it pauses until the disk or the store has finished its work.
    func hasRoom(_ reception: Reception) -> Bool {
        counters.offset - reception.part.written <= limits.outstanding
            && (!needsFirstCheckpoint(reception)
                || counters.offset < (reception.isSlow ? limits.slowUnrecorded : limits.unrecorded))
    }

    /// Whether the part file may have bytes whose representation (the content of the server's file at one time) is not
    /// in the store yet. After a crash, no attempt could continue with these bytes.
    private func needsFirstCheckpoint(_ reception: Reception) -> Bool {
        reception.startOffset == 0 && !reception.record.wasDone && reception.isResumable
            && (reception.isSlow || file.size ?? .max > limits.firstSync)
    }

    func flushWhenDue(_ reception: inout Reception) -> [Action] {
        if !hasRoom(reception) { reception.isPaused = true }
        return reception.buffered >= limits.flush || reception.isPaused ? flush(&reception) : []
    }

    func flush(_ reception: inout Reception) -> [Action] {
        guard reception.buffered > 0 else { return [] }
        reception.buffered = 0
        return [.flush]
    }

    func sync(_ reception: inout Reception) -> [Action] {
        guard !reception.sync.isUnderWay else { return [] }
        reception.sync.begin()
        reception.ticksSinceSync = 0
        return [.sync]
    }

    mutating func aged() -> [Action] {
        guard case .exchanging(.receiving(var reception), let transfer) = state else { return [] }
        reception.isSlow = true
        // A slow transfer needs a checkpoint even for a small file. If more bytes have already come than are allowed
        // without a checkpoint, the transfer pauses.
        if !hasRoom(reception) { reception.isPaused = true }
        let actions = flush(&reception) + recordWhenDue(&reception)
        state = .exchanging(.receiving(reception), transfer)
        return actions
    }

    mutating func tick() -> [Action] {
        switch state {
        case .exchanging(.refusing(var response), let transfer):
            response.ticks += 1
            state = .exchanging(.refusing(response), transfer)
            return response.ticks >= limits.errorTicks ? refuse(response.refusal) : []
        case .exchanging(.receiving(var reception), let transfer):
            reception.ticksSinceSync += 1
            var actions = flush(&reception)
            let isDue = !reception.sync.wasDone || reception.ticksSinceSync >= limits.syncTicks
            if reception.isResumable, counters.offset > reception.part.synced, isDue { actions += sync(&reception) }
            state = .exchanging(.receiving(reception), transfer)
            return actions
        default:
            return []
        }
    }

    // MARK: Results

    mutating func appended(_ length: UInt64, _ fingerprint: PartFingerprint?) -> [Action] {
        switch state {
        case .exchanging(.receiving(var reception), let transfer):
            reception.part.noteWritten(length, fingerprint, of: counters.offset)
            var actions = resumeWhenDue(&reception)
            if isSyncDue(reception) { actions += sync(&reception) }
            actions += recordWhenDue(&reception)
            state = .exchanging(.receiving(reception), transfer)
            return actions
        case .saving(var saving):
            saving.reception.part.noteWritten(length, fingerprint, of: counters.offset)
            state = .saving(saving)
            return []
        default:
            return []
        }
    }

    private func isSyncDue(_ reception: Reception) -> Bool {
        let part = reception.part
        // If the download cannot be continued, no later attempt uses the synced bytes, so no early sync is needed. In
        // this case, a sync before the end of the file serves only to leave less work to the last sync.
        let step = reception.sync.wasDone || !reception.isResumable ? limits.laterSync : limits.firstSync
        let isNearlyWhole = file.size.map { $0 - min($0, part.written) < limits.firstSync } ?? false
        return part.written - min(part.written, part.synced) >= step && !isNearlyWhole
    }

    private func resumeWhenDue(_ reception: inout Reception) -> [Action] {
        guard reception.isPaused, hasRoom(reception),
            counters.offset - reception.part.written <= limits.outstanding / 2
        else { return [] }
        reception.isPaused = false
        return [.resumeTransfer]
    }

    /// Records the first checkpoint after the disk has reported that enough bytes are written. Before this report, the
    /// part file may still have bytes of another representation.
    private mutating func recordWhenDue(_ reception: inout Reception) -> [Action] {
        // While a sync is in progress, nothing is recorded here, because a checkpoint follows each sync.
        guard needsFirstCheckpoint(reception), !reception.record.isUnderWay, !reception.sync.isUnderWay,
            reception.part.written >= limits.firstCheckpoint
        else { return [] }
        return recordCheckpoint(&reception)
    }

    private mutating func recordCheckpoint(_ reception: inout Reception) -> [Action] {
        guard let checkpoint = noteCheckpoint(reception) else { return [] }
        reception.record.begin()
        return [.recordCheckpoint(checkpoint)]
    }

    mutating func checkpointRecorded() -> [Action] {
        guard case .exchanging(.receiving(var reception), let transfer) = state, reception.record.isUnderWay else {
            return []
        }
        reception.record.finish()
        let actions = resumeWhenDue(&reception)
        state = .exchanging(.receiving(reception), transfer)
        return actions
    }

    mutating func synced(_ length: UInt64, _ checksum: UInt32?) -> [Action] {
        switch state {
        case .exchanging(.receiving(var reception), let transfer):
            guard reception.sync.isUnderWay else { return [] }
            reception.sync.finish()
            reception.part.noteSynced(length, checksum, of: counters.offset)
            let actions = recordCheckpoint(&reception)
            state = .exchanging(.receiving(reception), transfer)
            return actions
        case .saving(var saving):
            saving.reception.part.noteSynced(length, checksum, of: counters.offset)
            if saving.needsSecondSync {
                saving.needsSecondSync = false
                state = .saving(saving)
                return [.sync]
            }
            noteCheckpoint(saving.reception)
            return conclude(saving.conclusion)
        default:
            return []
        }
    }

    /// Updates the checkpoint. Returns nil if there are no bytes with which an attempt can safely continue.
    @discardableResult
    private mutating func noteCheckpoint(_ reception: Reception) -> Checkpoint? {
        let part = reception.part
        guard max(part.written, part.synced) > 0, reception.isResumable, let url = head?.finalURL else { return nil }
        if part.synced > counters.furthest {
            counters.madeProgress = true
            counters.furthest = part.synced
        }
        checkpoint = Checkpoint(
            validator: file.validator, finalURL: url, size: file.size, syncedOffset: part.synced, bootID: bootID,
            facts: file.facts, part: part.fingerprint, syncedChecksum: part.syncedChecksum)
        return checkpoint
    }

    // MARK: The end of the body

    mutating func transferComplete() -> [Action] {
        guard case .exchanging(let exchange, _) = state else { return [] }
        state = .exchanging(exchange, .ended)
        switch exchange {
        case .requesting:
            return retry(Failure(.badResponse, "the transfer ended without a response"), fromZero: false)
        case .receiving(let reception): return bodyEnded(reception)
        case .refusing(let response): return refuse(response.refusal)
        case .recheckingDestinationFile, .forgetting, .naming: return []
        }
    }

    mutating func bodyEnded(_ reception: Reception) -> [Action] {
        let offset = counters.offset
        // If the response stated no length, only its end shows that the resource is too short.
        if let range = terms.range, let skipped = reception.skipped, offset < file.size ?? 1,
            let head, ContentLength(head.fields) == .unknown,
            let failure = terms.refusal(ofTotal: range.start - skipped + offset)
        {
            return mismatched(failure)
        }
        guard let size = file.size, offset != size else {
            // If the response stated no length, the size is known only now.
            if file.size == nil, let failure = terms.refusal(ofSize: offset) { return reject(failure) }
            return seal()
        }
        let reason =
            offset == reception.bodyEnd
            ? "the server sent the bytes up to \(offset) of \(size) only"
            : "the response ended after \(offset) of \(size) bytes"
        return saveAndConclude(
            .retry(Failure(.connectionLost, reason), reason: .retry, retryAfterSeconds: nil, fromZero: false))
    }
}
