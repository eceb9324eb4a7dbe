/// The steps of an upload that can be continued.
extension UploadMachine {
    /// If the server does not take bytes after this many requests for the offset, the attempt ends.
    static let probeLimit = 3

    mutating func begin(_ step: UploadStep) -> [Action] {
        // The list of the parts is complete only when no part is in flight.
        if case .list = step, parts?.hasPartsInFlight == true {
            state = .awaitingParts
            return []
        }
        if case .list(_, let listing) = step, listing.marker == 0, self.step != nil { listings += 1 }
        (self.step, head, bodyBytes) = (step, nil, 0)
        forgetResponseBody()
        switch step {
        case .whole, .append, .part:
            state = .opening(step)
            return [.openBody(step)]
        case .create, .probe, .list, .complete:
            state = .sending(step)
            return [.startTransfer(step)]
        }
    }

    mutating func receivedInterim(_ head: ResponseHead, _ location: String?) -> [Action] {
        let known = resource
        guard case .sending(let step) = state,
            let found = uploadProtocol.resource(head, location: location, known: known, size: size)
        else { return [] }
        resource = found
        greatestOffset = max(greatestOffset, found.offset)
        if case .whole = step, let longest = found.longestAppend, longest < size {
            // The server does not take the whole body in one request.
            return proceed(with: .probe(found), records: true)
        }
        return known == nil ? [.record(found)] : []
    }

    mutating func recorded() -> [Action] {
        guard case .recording(let step) = state else { return [] }
        return begin(step)
    }

    mutating func take(_ verdict: UploadVerdict, _ head: ResponseHead) -> [Action] {
        switch verdict {
        case .answer(let forgets):
            judge(head)
            guard forgets, case .refusing = state else { return [] }
            resource = nil
            return [.record(nil)]
        case .complete:
            state = .receiving(ticks: 0)
        // 409: perhaps another connection still has the lock.
        case .next(.probe, _) where fruitlessProbes >= 1 && head.status == 409:
            state = .refusing(.retry(.status(of: head, opensChallenges: opensChallenges)), ticks: 0)
        case .next(.probe(let resource), _) where fruitlessProbes >= Self.probeLimit,
            .parts(let resource, _, _) where listings >= Self.probeLimit:
            let failure = Failure(
                .badResponse, "\(ShownURL(resource.url).withoutQuery) does not take the rest of the body",
                domain: .http, detail: Int64(head.status))
            state = .refusing(.retry(failure), ticks: 0)
        case .next(let step, let records):
            demandedDelay = nil
            if case .probe = step { fruitlessProbes += 1 }
            state = .settling(step, records: records, ticks: 0)
        case .parts(let resource, let plan, let records):
            advance(to: resource)
            parts = plan
            state = .settling(nextStep(of: resource), records: records, ticks: 0)
        case .tookPart:
            tookPart()
        case .startOver(let failure):
            resource = nil
            state = .refusing(.startOver(failure), ticks: 0)
            return [.record(nil)]
        case .later(let failure):
            noteDelay(head.demandedDelay)
            let isUnauthorized = [401, 407].contains(head.status)
            let cause = isUnauthorized ? .status(of: head, opensChallenges: opensChallenges) : failure
            state = .refusing(.retry(cause), ticks: 0)
        }
        return []
    }

    /// Judges a response whose body has arrived, or is no longer awaited.
    mutating func judgeBody(after step: UploadStep, _ wasBodySent: Bool) -> [Action] {
        guard let head else { return [] }
        let verdict = uploadProtocol.verdict(
            head, responseBody, location: nil, after: step, wasBodySent: wasBodySent, resource: resource, url: url,
            size: size)
        return take(verdict, head)
    }

    /// Continues with the next request. Stops the transfer if it still runs.
    mutating func proceed(with step: UploadStep, records: Bool, transferHasEnded: Bool = false) -> [Action] {
        guard ownPart == nil else { return conclude(.sentPart, transferHasEnded: transferHasEnded) }
        // The offset of the resource may have grown since a part was chosen.
        if step.part == nil, parts == nil, let next = step.resource { advance(to: next) }
        let stop: [Action] = transferHasEnded ? [] : [.stopTransfer]
        guard records else { return stop + begin(step) }
        state = .recording(step)
        return stop + [.record(resource)]
    }
}

/// The parts of an upload in parts. The machine of the attempt sends one part after another. While it does, extra parts
/// may be sent over other connections. Each extra part has a machine of its own.
extension UploadMachine {
    /// Whether one more part may be sent now, over a connection of its own. Its resource is in the store: the attempt's
    /// own part was begun before.
    public var wantsExtraPart: Bool {
        guard step?.part != nil, ownPart == nil, parts?.mayTake == true else { return false }
        return switch state {
        case .opening, .recording, .sending, .settling: true
        case .ready, .reading, .awaitingParts, .receiving, .refusing, .concluding, .over: false
        }
    }

    /// The size of the parts that the server has taken; nil if the body is not sent in parts.
    public var bytesOfSentParts: UInt64? { parts?.sentBytes }

    /// Returns the machine of an extra part; nil if no part may be sent now.
    public mutating func takeExtraPart() -> UploadMachine? {
        guard wantsExtraPart, let resource, let part = parts?.take() else { return nil }
        var machine = self
        machine.ownPart = part
        (machine.state, machine.step, machine.parts) = (.ready, .part(resource, part), nil)
        (machine.head, machine.demandedDelay, machine.bytesReceived) = (nil, nil, 0)
        return machine
    }

    /// Takes the response of an extra part.
    public mutating func responded(_ extra: UploadMachine) { noteDelay(extra.demandedDelay) }

    mutating func noteDelay(_ other: DemandedDelay?) {
        demandedDelay = [demandedDelay, other].compactMap(\.self).max()
    }

    /// Takes the end of the machine of an extra part.
    public mutating func ended(_ extra: UploadMachine, _ conclusion: Conclusion) -> [Action] {
        bytesReceived = bytesReceived.saturatingAdd(extra.bytesReceived)
        guard let part = extra.ownPart else { return [] }
        switch conclusion {
        case .sentPart: finish(part)
        default: parts?.giveBack(part)
        }
        switch state {
        // The attempt ends already, for another reason.
        case .ready, .reading, .receiving, .refusing, .concluding, .over: return []
        case .opening, .recording, .sending, .settling, .awaitingParts: break
        }
        switch conclusion {
        case .sentPart, .stopped:
            guard case .awaitingParts = state, let resource else { return [] }
            return begin(nextStep(of: resource))
        case .startOver(let failure):
            (resource, head) = (nil, extra.head)
            return [failure.status == .bodyChanged ? .abandon : .record(nil)] + conclude(conclusion)
        case .succeeded, .failed, .retry, .credential:
            head = extra.head
            return conclude(conclusion)
        }
    }

    mutating func tookPart() {
        guard let step, let part = step.part, let resource else { return }
        guard ownPart == nil else {
            state = .settling(step, records: false, ticks: 0)
            return
        }
        finish(part)
        state = .settling(nextStep(of: resource), records: true, ticks: 0)
    }

    private mutating func finish(_ part: UploadPart) {
        parts?.finish(part)
        guard var known = resource, let sent = parts?.sentBytes else { return }
        known.offset = sent
        advance(to: known)
    }

    private mutating func nextStep(of resource: UploadResource) -> UploadStep {
        parts?.take().map { .part(resource, $0) } ?? .list(resource, PartListing())
    }

    mutating func advance(to next: UploadResource) {
        if next.offset > greatestOffset { (greatestOffset, fruitlessProbes) = (next.offset, 0) }
        resource = next
    }
}
