/// The steps of an attempt (one run of a download) before its first request. They need no server. Each function
/// continues with the next step that applies.
extension DownloadMachine {
    mutating func start() -> [Action] {
        guard case .preparing(.ready) = state else { return [] }
        return intent.map { checkSealedFile($0) } ?? checkDestinationFile()
    }

    /// Checks whether the sealed file (a complete and synced file) exists. `expiry`: a failure if the task has reached
    /// its deadline, otherwise nil. If `expiry` is set and the sealed file does not exist, the task fails with
    /// `expiry`.
    mutating func checkSealedFile(_ intent: FinishIntent, expiry: Failure? = nil) -> [Action] {
        state = .preparing(.checkingSealedFile(intent, expiry: expiry))
        return [.checkSealedFile(intent)]
    }

    private mutating func checkDestinationFile() -> [Action] {
        guard terms.skipsExisting else { return checkSpace() }
        state = .preparing(.checkingDestinationFile)
        return [.checkDestinationFile(size: terms.expectedSize, terms.checksum?.algorithm)]
    }

    private mutating func checkSpace() -> [Action] {
        guard let space = terms.neededSpace else { return openPart() }
        state = .preparing(.checkingSpace)
        return [.checkSpace(missing: space, size: checkpoint?.size, replacesPart: checkpoint == nil)]
    }

    private mutating func openPart() -> [Action] {
        guard let checkpoint else { return requestWhole() }
        state = .preparing(.opening(checkpoint))
        return [.openPart(isSameBoot: isSameBoot(checkpoint), syncedOffset: checkpoint.syncedOffset)]
    }

    private mutating func requestWhole() -> [Action] {
        // After a 304, nothing would verify that the existing file has the checksum.
        guard terms.isOnlyIfChanged, terms.checksum == nil else { return request(from: 0) }
        state = .preparing(.findingKnownRepresentation)
        return [.findKnownRepresentation]
    }

    mutating func request(from length: UInt64, condition: KnownRepresentation? = nil) -> [Action] {
        counters.begin(at: length)
        state = .exchanging(.requesting(condition: condition), .running)
        let ifRange = length > 0 && !terms.continuesByDigest ? file.validator.ifRange : nil
        return [.startTransfer(offset: length, ifRange: ifRange, condition: condition)]
    }

    // MARK: Results

    mutating func sealedFileChecked(_ isThere: Bool) -> [Action] {
        guard case .preparing(.checkingSealedFile(let intent, let expiry)) = state else { return [] }
        if isThere {
            counters.begin(at: intent.size)
            file.size = intent.size
            return enter(.finishing(.placing(expiry: expiry), isCancelled: false)) + [.place(intent)]
        }
        if let expiry { return discard(.failed(expiry)) }
        return forget(.sealedFile)
    }

    mutating func destinationFileChecked(_ found: DestinationFile?) -> [Action] {
        guard case .preparing(.checkingDestinationFile) = state else { return [] }
        guard let found, found.size == terms.expectedSize ?? found.size, found.checksum == terms.checksum else {
            return checkSpace()
        }
        file.size = found.size
        counters.offset = found.size
        file.checksum = found.checksum
        return discard(.succeeded)
    }

    mutating func spaceChecked() -> [Action] {
        guard case .preparing(.checkingSpace) = state else { return [] }
        return openPart()
    }

    mutating func knownRepresentationFound(_ version: KnownRepresentation?) -> [Action] {
        guard case .preparing(.findingKnownRepresentation) = state else { return [] }
        let isExpected = version?.size == terms.expectedSize ?? version?.size
        return request(from: 0, condition: isExpected ? version : nil)
    }

    mutating func opened(_ length: UInt64) -> [Action] {
        guard case .preparing(.opening(let checkpoint)) = state else { return [] }
        if checkpoint.isMetadataOnly { return request(from: 0) }
        // An attempt cannot continue an empty part file. In three other cases, the part file is not the file that an
        // earlier attempt has written:
        // - It is shorter than the synced bytes.
        // - It is longer than the whole file on the server.
        // - After a reboot, it is longer than the synced bytes, although it was truncated to these bytes.
        guard length > 0, length >= checkpoint.syncedOffset,
            length == checkpoint.syncedOffset || isSameBoot(checkpoint), length <= checkpoint.size ?? .max
        else { return forget(.partFile) }
        file.validator = checkpoint.validator
        file.facts = checkpoint.facts
        if length == checkpoint.size {
            counters.begin(at: length)
            return hash() + seal()
        }
        guard isResumable else { return forget(.partFile) }
        file.size = checkpoint.size
        return request(from: length)
    }

    private mutating func forget(_ staleFile: StaleFile) -> [Action] {
        checkpoint = nil
        state = .preparing(.forgetting(staleFile))
        return [.forgetCheckpoint]
    }

    mutating func forgotten() -> [Action] {
        switch state {
        case .preparing(.forgetting(.sealedFile)):
            [.restartPart] + (terms.mayRequest ? checkDestinationFile() : conclude(.stopped))
        case .preparing(.forgetting(.partFile)): [.restartPart] + requestWhole()
        case .exchanging(.forgetting(let reception), let transfer):
            [.restartPart]
                + (reserveName(reception, transfer) ?? resumeReceiving(with: reception, transfer))
        default: []
        }
    }

    /// Whether the checkpoint (the stored record of the bytes from earlier attempts) was written since the system's
    /// last boot. If the id of this boot is unknown, the id is empty, and the result is false.
    private func isSameBoot(_ checkpoint: Checkpoint) -> Bool { !bootID.isEmpty && checkpoint.bootID == bootID }
}
