/// The steps of an upload that can be continued.
extension UploadMachine {
    /// If the server does not take bytes after this many requests for the offset, the attempt ends.
    static let probeLimit = 3

    mutating func begin(_ step: UploadStep) -> [Action] {
        (self.step, head, bodyBytes) = (step, nil, 0)
        forgetResponseBody()
        switch step {
        case .whole, .append:
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
        case .next(.probe(let resource), _) where fruitlessProbes >= Self.probeLimit,
            .next(.list(let resource, _), _) where listings >= Self.probeLimit:
            let failure = Failure(
                .badResponse, "\(ShownURL(resource.url).withoutQuery) does not take the rest of the body",
                domain: .http, detail: Int64(head.status))
            state = .refusing(.retry(failure, retryAfterSeconds: nil), ticks: 0)
        case .next(let step, let records):
            if case .probe = step { fruitlessProbes += 1 }
            if case .list(_, let listing) = step, listing.marker == 0 { listings += 1 }
            state = .settling(step, records: records, ticks: 0)
        case .startOver(let failure):
            resource = nil
            state = .refusing(.startOver(failure), ticks: 0)
            return [.record(nil)]
        case .later(let failure):
            state = .refusing(.retry(failure, retryAfterSeconds: head.retryAfterSeconds), ticks: 0)
        }
        return []
    }

    /// Judges a response whose body has arrived. The transfer has ended.
    mutating func judgeBody(after step: UploadStep, _ wasBodySent: Bool) -> [Action] {
        guard let head else { return [] }
        let verdict = uploadProtocol.verdict(
            head, responseBody, location: nil, after: step, wasBodySent: wasBodySent, resource: resource, url: url,
            size: size)
        return take(verdict, head) + transferComplete(wasBodySent)
    }

    /// Continues with the next request. Stops the transfer if it still runs.
    mutating func proceed(with step: UploadStep, records: Bool, transferHasEnded: Bool = false) -> [Action] {
        if let next = step.resource {
            if next.offset > greatestOffset { (greatestOffset, fruitlessProbes) = (next.offset, 0) }
            resource = next
        }
        let stop: [Action] = transferHasEnded ? [] : [.stopTransfer]
        guard records else { return stop + begin(step) }
        state = .recording(step)
        return stop + [.record(resource)]
    }
}
