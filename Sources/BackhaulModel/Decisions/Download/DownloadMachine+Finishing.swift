/// The steps of a download from its last byte to the file under its final name.
extension DownloadMachine {
    /// The digest that the file must have. `isServers`: whether the server stated this digest; otherwise, the request
    /// stated it.
    private var wanted: (checksum: Checksum, isServers: Bool)? {
        terms.checksum.map { ($0, false) } ?? file.facts.digest.map { ($0, true) }
    }

    func hash() -> [Action] { wanted.map { [.hash($0.checksum.algorithm)] } ?? [] }

    mutating func seal() -> [Action] {
        file.size = counters.offset
        return enter(.finishing(.sealing, isCancelled: false)) + [.seal(size: counters.offset)]
    }

    mutating func sealed(_ intent: FinishIntent, _ checksum: Checksum?) -> [Action] {
        guard case .finishing(.sealing, let isCancelled) = state else { return [] }
        if isCancelled { return discard(.stopped) }
        if let wanted, checksum != wanted.checksum {
            guard let checksum else {
                return discard(.failed(Failure(.internal, "the file's digest was not computed; please report it")))
            }
            return mismatched(DownloadTerms.mismatch(checksum, wanted.checksum, isServers: wanted.isServers))
        }
        file.checksum = checksum
        var intent = intent
        intent.name = fileName
        state = .finishing(.recordingIntent(intent), isCancelled: false)
        return [.recordIntent(intent)]
    }

    /// Removes a file with a wrong digest or size. After the first mismatch, the task is retried. After a second
    /// mismatch in a row, the task fails, because two mismatches are no accident of the network.
    mutating func mismatched(_ failure: Failure) -> [Action] {
        terms.hadMismatch ? discard(.failed(failure)) : retry(failure, fromZero: true)
    }

    mutating func intentRecorded() -> [Action] {
        guard case .finishing(.recordingIntent(let intent), let isCancelled) = state else { return [] }
        if isCancelled { return discard(.stopped) }
        state = .finishing(.placing(expiry: nil), isCancelled: false)
        return [.place(intent)]
    }

    mutating func intentRefused() -> [Action] {
        guard case .finishing(.recordingIntent, _) = state else { return [] }
        return discard(.stopped)
    }

    mutating func placed() -> [Action] {
        guard case .finishing(.placing, _) = state else { return [] }
        return conclude(.succeeded, partIsGone: true)
    }
}
