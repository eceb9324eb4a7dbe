/// From the start of an attempt to the answer's head.
extension DownloadMachine {
    mutating func start() -> [Action] {
        guard phase == .ready else { return [] }
        if let intent {
            phase = .lookingForSealed(intent)
            return [.lookForSealed(intent)]
        }
        return beginDownload()
    }

    /// What can be found out without the server comes before it.
    private mutating func beginDownload() -> [Action] {
        if terms.skipsExisting, !hasLookedForFile {
            hasLookedForFile = true
            phase = .lookingForFile
            return [.lookForFile(size: terms.expectedSize, terms.checksum?.algorithm)]
        }
        if let space = terms.neededSpace, !hasSpace {
            hasSpace = true
            phase = .checkingSpace
            return [.checkSpace(missing: space, size: checkpoint?.size)]
        }
        if let checkpoint {
            phase = .opening
            return [.openPart(isSameBoot: isSameBoot(checkpoint), syncedOffset: checkpoint.syncedOffset)]
        }
        guard terms.isOnlyIfChanged else { return request(from: 0) }
        phase = .lookingForVersion
        return [.lookForVersion]
    }

    mutating func spaceChecked() -> [Action] { phase == .checkingSpace ? beginDownload() : [] }

    mutating func lookedForFile(_ file: FoundFile?) -> [Action] {
        guard phase == .lookingForFile else { return [] }
        guard let file, file.size == terms.expectedSize ?? file.size, file.checksum == terms.checksum else {
            return beginDownload()
        }
        size = file.size
        offset = file.size
        checksum = file.checksum
        return releaseTurn() + discard(.succeeded)
    }

    mutating func lookedForVersion(_ version: FileVersion?) -> [Action] {
        guard phase == .lookingForVersion else { return [] }
        condition = version
        return request(from: 0)
    }

    mutating func lookedAgain(_ isSame: Bool) -> [Action] {
        guard case .lookingAgain(let version) = phase else { return [] }
        guard isSame else { return requestAnyVersion() }
        size = version.size
        offset = version.size
        isUnchanged = true
        return endTransfer() + discard(.succeeded)
    }

    private mutating func requestAnyVersion() -> [Action] {
        let stop: [Action] = transferIsOver ? [] : [.stopTransfer]
        condition = nil
        head = nil
        return stop + request(from: 0)
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
        if checkpoint.isPromise { return request(from: 0) }
        // Shorter than what was synced, or longer than what may be trusted or than the file: not what we left there.
        guard length > 0, length >= checkpoint.syncedOffset,
            length == checkpoint.syncedOffset || isSameBoot(checkpoint), length <= checkpoint.size ?? .max
        else { return forget() }
        validator = checkpoint.validator
        facts = checkpoint.facts
        if length == checkpoint.size {
            begin(at: length)
            return hash() + seal()
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
        guard head != nil else { return [.restartPart] + beginDownload() }
        phase = .receiving
        isPaused = false
        guard !transferIsOver else { return [.restartPart] + look() + bodyEnded() }
        return [.restartPart] + look() + [.resumeTransfer] + flushWhenDue()
    }

    private mutating func request(from length: UInt64) -> [Action] {
        begin(at: length)
        phase = .requesting
        transferIsOver = false
        return [.startTransfer(offset: length, ifRange: length > 0 ? validator.ifRange : nil, condition: condition)]
    }

    /// Which digest the file must have, and whether the server says so rather than the host.
    var wanted: (checksum: Checksum, isServers: Bool)? {
        terms.checksum.map { ($0, false) } ?? facts.digest.map { ($0, true) }
    }

    private func hash() -> [Action] { wanted.map { [.hash($0.checksum.algorithm)] } ?? [] }

    /// Of a body that begins now.
    private func look() -> [Action] {
        var actions: [Action] = []
        if let size, size - min(offset, size) >= limits.spaceCheck {
            actions.append(.checkSpace(missing: size - offset, size: size))
        }
        if terms.refusesTakenName, let name = fileName { actions.append(.checkName(name)) }
        return actions + hash()
    }

    private mutating func begin(at length: UInt64) {
        offset = length
        written = length
        startOffset = length
        furthest = max(furthest, length)
        synced = min(checkpoint?.syncedOffset ?? 0, length)
        part = checkpoint?.part.flatMap { $0.length <= length ? $0 : nil }
        syncedChecksum = synced == checkpoint?.syncedOffset ? checkpoint?.syncedChecksum : nil
    }

    private func demand(of head: ResponseHead) -> AuthenticationDemand? {
        switch question {
        case .asTheHeadSays:
            terms.asksForCredentials && !terms.acceptedStatuses.contains(head.status) ? AuthenticationDemand(head) : nil
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
        let plan = ResponsePlan.decide(
            head, offset: offset, known: checkpoint, terms: terms, isConditional: condition != nil)
        switch plan {
        case .append(let size, let through):
            self.size = size
            bodyEnd = through
            phase = .receiving
            if facts.digest == nil { facts.digest = RepresentationFacts(head, terms).digest }
            return look()
        case .startOver(let size, let validator):
            self.size = size
            // Ranges are for GET (RFC 9110, section 14.2): anything else begins anew.
            self.validator = terms.method == "GET" ? validator : Validator()
            facts = RepresentationFacts(head, terms)
            bodyEnd = size
            let hadCheckpoint = checkpoint != nil
            checkpoint = nil
            begin(at: 0)
            guard hadCheckpoint else {
                phase = .receiving
                return look()
            }
            isPaused = true
            return forget()
        case .whole:
            self.head = head.withoutPage
            return hash() + seal()
        case .unchanged:
            guard let version = condition, ResponsePlan.isSameAddress(head.finalURL, version.finalURL) else {
                return requestAnyVersion()
            }
            phase = .lookingAgain(version)
            return [.lookAgain(version)]
        case .retry(let failure, let fromZero):
            guard failure.status == .httpStatus else { return retry(failure, fromZero: fromZero) }
            // Should this be the last try, the host will want to read what the server said.
            refusal = .again(failure)
            phase = .receivingErrorBody
            return []
        case .contradiction(let failure):
            let promise = checkpoint.map(\.promise)
            let actions = retry(failure, fromZero: true)
            checkpoint = promise
            return actions
        case .fail(let failure):
            refusal = .final(failure)
            // With a status that is accepted the body is a file: it explains no failure, and may never end.
            guard !terms.acceptedStatuses.contains(head.status) else { return refuse() }
            phase = .receivingErrorBody
            return []
        }
    }
}
