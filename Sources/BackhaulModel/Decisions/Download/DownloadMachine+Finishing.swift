/// From the last byte to the file under its final name.
extension DownloadMachine {
    mutating func seal() -> [Action] {
        let turn = endTransfer()
        phase = .sealing
        buffered = 0
        size = offset
        return turn + [.seal(size: offset)]
    }

    mutating func sealed(_ intent: FinishIntent, _ checksum: Checksum?) -> [Action] {
        guard phase == .sealing else { return [] }
        if isCancelled { return discard(.left) }
        if let wanted, checksum != wanted.checksum {
            guard let checksum else {
                return discard(.failed(Failure(.internal, "the file's digest was not computed; please report it")))
            }
            return mismatched(DownloadTerms.mismatch(checksum, wanted.checksum, isServers: wanted.isServers))
        }
        self.checksum = checksum
        var intent = intent
        intent.name = fileName
        phase = .recordingIntent(intent)
        return [.recordIntent(intent)]
    }

    /// Nothing of such a file is kept. A second one in a row is no slip of the network.
    mutating func mismatched(_ failure: Failure) -> [Action] {
        guard !terms.hadMismatch else { return endTransfer() + discard(.failed(failure)) }
        return retry(failure, fromZero: true)
    }

    mutating func intentRecorded() -> [Action] {
        guard case .recordingIntent(let intent) = phase else { return [] }
        if isCancelled { return discard(.left) }
        phase = .placing
        return [.place(intent)]
    }

    mutating func intentRefused() -> [Action] {
        guard case .recordingIntent = phase else { return [] }
        return discard(.left)
    }

    mutating func placed() -> [Action] {
        guard phase == .placing else { return [] }
        partIsGone = true
        return conclude(.succeeded)
    }
}
