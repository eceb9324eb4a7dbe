internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Runs an upload. An `UploadMachine` decides the actions of the upload, without I/O. The runner performs these actions
/// with the transport, the disk and the store, and returns the results to this state machine.
final class UploadRunner: TransferRunner {
    let attempt: RunningAttempt
    private var machine: UploadMachine
    /// The bytes of the request's body that are sent.
    private let sentBytes: Range<UInt64>
    /// Their number.
    var size: UInt64 { sentBytes.upperBound - sentBytes.lowerBound }
    private var responseBody: [UInt8] = []
    /// Whether the request's body had been sent when the transfer ended.
    private var wasBodySent = true
    /// The SHA-256 of the bytes that the present request of S3 sends, in hexadecimal digits.
    private var payload = RequestSignature.emptyPayload
    /// The parts that are sent beside the attempt's own one.
    private var extraParts: [ExtraPart] = []
    /// Whether the attempt waits for a connection for one more part.
    private var hasRequestedConnection = false

    init(_ attempt: RunningAttempt) {
        self.attempt = attempt
        sentBytes = attempt.task.request.options.sentBytes ?? 0..<0
        machine = UploadMachine(
            url: attempt.task.request.url, policy: attempt.terms.policy,
            opensChallenges: attempt.terms.configuration.asksForCredentials, headers: attempt.task.request.headers,
            size: sentBytes.upperBound - sentBytes.lowerBound, resource: attempt.task.uploadResource,
            furthest: attempt.task.furthestOffset)
    }

    var isFinishing: Bool { machine.isFinishing }
    var hasAllBytes: Bool { false }
    var head: ResponseHead? { machine.head }
    var receivedInAttempt: UInt64 { machine.bytesReceived }
    var furthest: UInt64 { machine.greatestOffset }
    var madeProgress: Bool { machine.madeProgress }
    var continuesUpload: Bool { machine.mayContinue }
    var uploadResource: UploadResource? { machine.resource }
    // The URL of an upload resource is the server's, not the host's. Its requests have the host's header fields.
    var mayBeRefreshed: Bool { machine.step?.resource == nil || attempt.task.request.options.refresh == .headers }
    var asksForOffset: Bool { if case .probe? = machine.step { true } else { false } }
    var bytesLostByStop: UInt64 { continuesUpload ? 0 : attempt.bodySent }
    var file: (offset: UInt64, size: UInt64?)? { nil }
    var body: (sent: UInt64, size: UInt64?)? { (min(sent, size), size) }
    var finishing: String? { machine.isFinishing ? "the response has arrived and is being recorded" : nil }
    var awaitsResponse: Bool { machine.phase == .sending }
    var hasNoResponse: Bool { head == nil && attempt.bodySent == 0 && extraParts.isEmpty }
    var silenceDescription: String { "taken and sent nothing" }

    private var sent: UInt64 {
        guard let known = machine.bytesOfSentParts else { return attempt.exchange.requestOffset &+ attempt.bodySent }
        let own = machine.phase == .sending ? attempt.bodySent : 0
        return extraParts.reduce(known &+ own) { $0 &+ $1.bodySent }
    }

    func process(_ event: RunnerEvent) {
        switch event {
        case .start: handle(interruption.map { .expire($0) } ?? .start)
        case .concluded: handle(.concluded)
        case .retryRefused: handle(.retryRefused)
        case .cancel: handle(.cancel)
        case .stop: handle(.stop)
        case .expire(let failure): handle(.expire(failure, wasBodySent: attempt.transfer?.isBodySent ?? true))
        case .tick: tick()
        case .transferComplete: handle(.transferComplete(wasBodySent: wasBodySent))
        case .transferFailed(let failure, let isTransient): handle(.transferFailed(failure, isTransient: isTransient))
        }
    }

    private func tick() {
        if isLimited { stopExtraParts() } else { for part in extraParts { part.tick() } }
        // A second in which the transfer waits for the engine does not count as silence of the server.
        if attempt.transfer?.isWaiting == true { return }
        handle(.tick(wasBodySent: attempt.transfer?.isBodySent ?? true))
    }

    private func handle(_ event: UploadMachine.Event) { perform(machine.handle(event)) }

    private func perform(_ actions: [UploadMachine.Action]) {
        for action in actions { perform(action) }
        requestConnection()
    }

    // MARK: Extra parts

    /// With a rate limit, one part at a time is sent: several connections would share the rate, and the server may end
    /// one that waits for long.
    private var isLimited: Bool { attempt.services.traffic.rates.isLimited(attempt.task.id, of: attempt.task.session) }

    private func requestConnection() {
        guard machine.wantsExtraPart, !hasRequestedConnection, !isLimited else { return }
        hasRequestedConnection = true
        attempt.emit(.requestedConnection)
    }

    /// Uses one more connection for an extra part, or releases it.
    func useConnection() -> [EngineEffect] {
        hasRequestedConnection = false
        if !isLimited, let taken = machine.takeExtraPart() {
            let part = ExtraPart(taken, self)
            extraParts.append(part)
            part.start()
            requestConnection()
        } else {
            attempt.emit(.releasedConnection)
        }
        return attempt.takeEffects()
    }

    func responded(_ part: ExtraPart) { machine.responded(part.machine) }

    func ended(_ part: ExtraPart, _ conclusion: UploadMachine.Conclusion) {
        extraParts.removeAll { $0 === part }
        let actions = machine.ended(part.machine, conclusion)
        if machine.isFinishing, !actions.isEmpty {
            // The part ends the attempt.
            attempt.exchange.errorBody = part.errorBody
            attempt.exchange.failureContext = part.failureContext
        }
        perform(actions)
    }

    /// Stops the extra part that was started last, because an urgent task needs its connection. Returns nil if there is
    /// none.
    func stopExtraPart() -> [EngineEffect]? {
        guard let part = extraParts.last else { return nil }
        part.stop()
        return attempt.takeEffects()
    }

    private func stopExtraParts() {
        for part in extraParts { part.stop() }
    }

    // MARK: Actions

    private func perform(_ action: UploadMachine.Action) {
        switch action {
        case .openBody(let step): openBody(step)
        case .startTransfer(.whole) where !attempt.mayRepeat: recordUnderWay { [self] in startTransfer(.whole) }
        case .startTransfer(let step): startTransfer(step)
        case .record(let resource): record(resource)
        case .abandon: abandon()
        case .stopTransfer: attempt.stopTransfer()
        case .stopExtraParts: stopExtraParts()
        case .releaseSlot: attempt.releaseSlot()
        case .conclude(let conclusion): conclude(conclusion)
        case .close: attempt.finish()
        }
    }

    private func openBody(_ step: UploadStep) {
        openBody(step) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let body):
                payload = body.payload
                attempt.feed = makeFeed(
                    body.range, continues: body.continues, opened: { [weak self] in self?.handle(.opened) }
                ) { [weak self] failure in self?.handle(.bodyFailed(failure)) }
            case .failure(let failure): handle(.bodyFailed(failure))
            }
        }
    }

    /// What a request sends of the body.
    struct StepBody {
        let range: Range<UInt64>
        /// Whether the server has other bytes of the body.
        let continues: Bool
        /// The SHA-256 of the bytes in hexadecimal digits, for S3.
        var payload = RequestSignature.emptyPayload
    }

    /// Finds the bytes that the step sends. For S3, also computes their SHA-256.
    func openBody(_ step: UploadStep, then: @escaping (Result<StepBody, Failure>) -> Void) {
        var range = sentBytes
        switch step {
        case .append(let resource, let count):
            let first = sentBytes.lowerBound + resource.offset
            range = first..<first + count
        case .part(_, let part):
            let first = sentBytes.lowerBound
            range = first + part.range.lowerBound..<first + part.range.upperBound
        case .whole, .create, .probe, .list, .complete: break
        }
        var body = StepBody(range: range, continues: step.continuesBody)
        guard attempt.isS3 else { return then(.success(body)) }
        digest(range) { result in
            if case .success(let digest) = result { body.payload = RequestSignature.digits(digest) }
            then(result.map { _ in body })
        }
    }

    /// Computes the SHA-256 of bytes of the body. The server compares it with the bytes that it gets.
    private func digest(_ range: Range<UInt64>, then: @escaping (Result<[UInt8], Failure>) -> Void) {
        do throws(Failure) {
            switch attempt.task.request.options.body {
            case .file(let file, _):
                let path = file.storedName.map(attempt.services.directory.bodyFile(named:)) ?? file.path
                let reader = attempt.services.disk.bodyReader(file, at: path)
                try reader.digest(of: range, then: attempt.returning(then))
            case .bytes(let bytes):
                let sent = bytes.dropFirst(Int(range.lowerBound)).prefix(range.count)
                try then(.success(ByteDigest.sha256(Array(sent))))
            // The check of the request has refused forms.
            case .form, nil: try then(.success(ByteDigest.sha256([])))
            }
        } catch {
            then(.failure(error))
        }
    }

    private func record(_ resource: UploadResource?) {
        let (id, now) = (attempt.task.id, attempt.services.runtime.clocks.wallMilliseconds)
        // The server may have acted on a request before it lost the resource, so after a crash it is not sent again.
        let attempts = resource == nil && !attempt.mayRepeat ? attempt.task.attempts &+ 1 : nil
        attempt.services.runtime.store(
            { (transaction) throws(Failure) -> Bool in
                if let attempts { try transaction.attempts.recordUnderWay(id, attempts: attempts) }
                return try transaction.uploads.record(resource, of: id, now: now)
            },
            then: { [self] result in
                // The attempt may be over already.
                if case .success(true) = result { attempt.emit(.uploadAbandoned) }
                return attempt.afterwards { recorded(result) }
            })
    }

    private func recorded(_ result: Result<Bool, Failure>) {
        switch result {
        case .success:
            attempt.commitSucceeded()
            handle(.recorded)
        case .failure(let failure):
            attempt.retryCommit(after: failure) { [unowned self] in record(machine.resource) }
        }
    }

    private func abandon() {
        let (id, now) = (attempt.task.id, attempt.services.runtime.clocks.wallMilliseconds)
        attempt.store(
            { (transaction) throws(Failure) in try transaction.uploads.abandon(id, now: now) },
            then: { [self] result in
                // Without the record, the server removes the resource by itself at some time.
                if case .success = result { attempt.emit(.uploadAbandoned) }
            })
    }

    private func startTransfer(_ step: UploadStep) {
        let runtime = attempt.services.runtime
        attempt.exchange.begin(
            from: machine.resource?.offset ?? 0, now: runtime.now, wall: runtime.clocks.wallMilliseconds,
            continuesAttempt: attempt.exchange.requests > 0)
        do throws(Failure) {
            var request = try attempt.request(of: step, machine.uploadProtocol, size: size)
            switch step {
            case .whole, .append, .part: request.s3?.payload = payload
            case .complete(_, let parts): try complete(parts, &request)
            case .create, .probe, .list: break
            }
            try attempt.start(request, self)
        } catch {
            handle(.transferFailed(error, isTransient: error.isTemporaryShortage))
        }
    }

    /// Gives the request the list of the parts as its body.
    private func complete(_ parts: [S3Part], _ request: inout TransferRequest) throws(Failure) {
        let list = UploadProtocol.s3Completion(parts)
        request.s3?.payload = RequestSignature.digits(try ByteDigest.sha256(list))
        attempt.feed = BodyFeed(
            BodyLayout(.bytes(list), boundary: ""), of: attempt, mayMove: { [weak self] in self?.mayMove() ?? true },
            opened: {}, failed: { _ in })
    }

    private func conclude(_ conclusion: UploadMachine.Conclusion) {
        switch conclusion {
        case .succeeded:
            judgeUplink(nil)
            end(success)
        // Only the machine of an extra part concludes so.
        case .sentPart: break
        case .failed(let failure):
            judgeUplink(failure)
            end(Outcome(state: .failed, failure: failure))
        case .startOver(let failure): retry(after: failure, hasLostUpload: true)
        case .retry(let failure): retry(after: failure, hasLostUpload: false)
        case .credential(let authChallenge): attempt.emit(.decideParking(authChallenge, nil))
        case .stopped: stop(nil)
        }
    }

    private func retry(after failure: Failure, hasLostUpload: Bool) {
        var failed = FailedAttempt(failure)
        failed.hasLostUpload = hasLostUpload
        failed.retryAfterSeconds = machine.demandedDelay?.seconds
        failed.isOriginPaused = machine.demandedDelay?.pausesOrigin == true
        failed.continuesUpload = continuesUpload
        if failure.status == .storageAway { failed.reason = .storage }
        retry(failed, nil)
    }

    var storagePath: String {
        guard case .file(let file, _)? = attempt.task.request.options.body else { return "/" }
        return file.path
    }

    private var success: Outcome {
        let secrets = attempt.authentication.secrets
        var outcome = Outcome(state: .succeeded)
        if let head { outcome.response = ResponseSummary(head, secrets) }
        outcome.response.responseBody =
            responseBody.isEmpty
            ? nil : secrets.redacted(responseBody, isCut: responseBody.count >= Limits.responseBodySize)
        outcome.response.isBodyIncomplete = !machine.hasWholeResponse
        return outcome
    }
}

extension UploadRunner: TransferDelegate {
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        handle(event(for: head, transfer))
        attempt.passEffects()
        return .receive
    }

    /// Notes what the head of a response says about the credentials and the origin. Returns the event for the machine.
    func event(for head: ResponseHead, _ transfer: Transfer) -> UploadMachine.Event {
        attempt.exchange.lastByte = attempt.services.runtime.now
        // The first challenge of several parts counts. Each part that gets a challenge concludes with this one.
        if attempt.authentication.authChallenge == nil { noteCredentials(head, transfer) }
        attempt.noteProtocol(of: head)
        attempt.authentication.secrets = transfer.secrets
        let redacted = transfer.secrets.redacted(head, requested: attempt.task.request.url)
        // The machine gets the resource as it was sent, because its URL may contain a secret.
        return .head(
            redacted, attempt.authentication.authChallenge, location: location(of: head),
            wasBodySent: transfer.isBodySent)
    }

    func transfer(_ transfer: Transfer, receivedInterim head: ResponseHead) -> Bool {
        attempt.exchange.lastByte = attempt.services.runtime.now
        let before = machine.resource?.offset ?? 0
        handle(.interim(head, location: location(of: head)))
        defer { attempt.passEffects() }
        return machine.resource.map { $0.offset > before } ?? false
    }

    /// The Location field as a URL that may be used. A resource at another origin is used if a redirect to it would be
    /// followed.
    private func location(of head: ResponseHead) -> String? {
        guard let url = URLParser.location(of: head), let origin = try? URLParser.origin(of: url) else { return nil }
        return origin == attempt.task.origin || attempt.terms.policy.redirects == .follow ? url : nil
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        guard mayMove() else { return .pause }
        defer { attempt.passEffects() }
        attempt.takeFromRate(bytes.byteCount)
        attempt.received(bytes.byteCount)
        switch machine.phase {
        case .receiving: responseBody.append(bytes, atMost: Limits.responseBodySize)
        case .reading:
            machine.read(bytes)
            if (head?.status ?? 0) >= 300 { attempt.exchange.collectErrorBody(bytes) }
        case .receivingErrorBody: if let refresh = collectErrorBody(bytes) { machine.refuse(with: refresh) }
        default: break
        }
        handle(.received(count: bytes.byteCount, wasBodySent: transfer.isBodySent))
        return .go
    }

    func transfer(_ transfer: Transfer, delayOfRedirectFrom sender: Origin, to target: Origin) -> Int64? {
        delayOfRedirect(from: sender, to: target)
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        wasBodySent = transfer.isBodySent
        process(ended(transfer, end))
        attempt.passEffects()
    }
}
