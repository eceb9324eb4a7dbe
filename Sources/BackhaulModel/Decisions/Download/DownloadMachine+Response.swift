/// The steps of an attempt (one run of a download) from the head of the response to the start of the response's body.
extension DownloadMachine {
    mutating func received(_ head: ResponseHead) -> [Action] {
        guard case .exchanging(.requesting(let condition), let transfer) = state else { return [] }
        self.head = head
        if let authChallenge = authChallenge(of: head) { return readErrorBody(.credential(authChallenge), transfer) }
        let plan = ResponsePlan.decide(
            head, offset: counters.offset, known: checkpoint, terms: terms, isConditional: condition != nil)
        switch plan {
        case .append(let size, let through):
            file.size = size
            if file.facts.digest == nil { file.facts.digest = RepresentationMetadata(head, terms).digest }
            return beginBody(reception(through: through), transfer)
        case .startOver(let size, let validator, let body):
            return startOver(head, size: size, validator, body, transfer)
        case .whole:
            self.head = head.withoutErrorPage
            return hash() + seal()
        case .unchanged:
            guard let condition, ResponsePlan.isSameAddress(head.finalURL, condition.finalURL) else {
                return repeatPlainly()
            }
            state = .exchanging(.recheckingDestinationFile(condition), transfer)
            return [.recheckDestinationFile(condition)]
        case .retry(let failure, let fromZero):
            guard failure.status == .httpStatus else { return retry(failure, fromZero: fromZero) }
            // If no further attempt follows, the program that requested the download gets the first bytes of this
            // response's body. So the body is read.
            return readErrorBody(.again(failure), transfer)
        case .contradiction(let failure):
            let metadataOnly = checkpoint.map(\.metadataOnly)
            let actions = retry(failure, fromZero: true)
            checkpoint = metadataOnly
            return actions
        case .withoutRange: return repeatPlainly()
        case .fail(let failure):
            // If the status is accepted, the body is a file. Such a body does not explain the failure and may never
            // end, so it is not read.
            guard !terms.acceptedStatuses.contains(head.status) else { return refuse(.final(failure)) }
            return readErrorBody(.final(failure), transfer)
        }
    }

    private func authChallenge(of head: ResponseHead) -> AuthenticationChallenge? {
        switch challenge {
        case .head: terms.opensChallenges ? AuthenticationChallenge(head) : nil
        case .nothing: nil
        case .authChallenge(let authChallenge): authChallenge
        }
    }

    private mutating func readErrorBody(_ refusal: Refusal, _ transfer: Transfer) -> [Action] {
        state = .exchanging(.refusing(RefusedResponse(refusal: refusal)), transfer)
        return []
    }

    private mutating func startOver(
        _ head: ResponseHead, size: UInt64?, _ validator: Validator, _ body: ResponsePlan.BodyExtent,
        _ transfer: Transfer
    ) -> [Action] {
        file.size = size
        // Only GET has ranges (RFC 9110, section 14.2): with another method, each attempt starts from the first byte.
        file.validator = terms.method == "GET" ? validator : Validator()
        file.facts = RepresentationMetadata(head, terms)
        counters.begin(at: 0)
        let hadCheckpoint = checkpoint != nil
        checkpoint = nil
        let reception = reception(through: size, body)
        guard hadCheckpoint else { return beginBody(reception, transfer) }
        state = .exchanging(.forgetting(reception), transfer)
        return [.forgetCheckpoint]
    }

    private mutating func beginBody(_ reception: Reception, _ transfer: Transfer) -> [Action] {
        if let actions = reserveName(reception, transfer) { return actions }
        state = .exchanging(.receiving(reception), transfer)
        return bodyChecks()
    }

    /// Reserves the name that the server has given, before the body is fetched. Nil if the request has a name.
    mutating func reserveName(_ reception: Reception, _ transfer: Transfer) -> [Action]? {
        guard terms.isNamedByServer, let name = file.facts.name else { return nil }
        state = .exchanging(.naming(reception), transfer)
        return [.reserveName(name)]
    }

    mutating func nameReserved(_ name: String) -> [Action] {
        guard case .exchanging(.naming(let reception), let transfer) = state else { return [] }
        file.facts.name = name
        return resumeReceiving(with: reception, transfer)
    }

    /// Whether a later attempt can continue the part file.
    var isResumable: Bool { file.validator.ifRange != nil || terms.continuesByDigest }

    /// The reception of a body whose file begins at the present offset. `bodyEnd`: the length of the file after the
    /// whole body.
    private func reception(through bodyEnd: UInt64?, _ body: ResponsePlan.BodyExtent = .whole) -> Reception {
        var (bodyEnd, skipped): (UInt64?, UInt64?) = (bodyEnd, nil)
        switch body {
        case .whole: break
        case .part(let through): bodyEnd = through
        case .around(let before): skipped = before
        }
        return Reception(
            startOffset: counters.offset, bodyEnd: bodyEnd, isResumable: isResumable,
            part: KnownPart(opened: counters.offset, checkpoint), skipped: skipped)
    }

    /// Resumes a transfer that was paused until the store had forgotten the bytes of earlier attempts, or had reserved
    /// the name. Now the body may overwrite these bytes.
    mutating func resumeReceiving(with reception: Reception, _ transfer: Transfer) -> [Action] {
        var reception = reception
        let actions = bodyChecks()
        state = .exchanging(.receiving(reception), transfer)
        if transfer == .ended { return actions + bodyEnded(reception) }
        let flush = flushWhenDue(&reception)
        state = .exchanging(.receiving(reception), transfer)
        return actions + [.resumeTransfer] + flush
    }

    /// The actions for a body that begins now. They check the space, and compute the digest.
    private func bodyChecks() -> [Action] {
        var actions: [Action] = []
        if let size = file.size, size - min(counters.offset, size) >= limits.spaceCheck {
            let replacesPart = counters.offset == 0
            actions.append(.checkSpace(missing: size - counters.offset, size: size, replacesPart: replacesPart))
        }
        return actions + hash()
    }

    // MARK: The representation at the destination

    mutating func destinationFileRechecked(_ isSame: Bool) -> [Action] {
        guard case .exchanging(.recheckingDestinationFile(let version), _) = state else { return [] }
        guard isSame else { return repeatPlainly() }
        file.size = version.size
        counters.offset = version.size
        file.isUnchanged = true
        return discard(.succeeded)
    }

    /// Sends the request again, without a range and without a condition.
    private mutating func repeatPlainly() -> [Action] {
        let stop: [Action] = state.hasRunningTransfer ? [.stopTransfer] : []
        head = nil
        return stop + request(from: 0)
    }
}
