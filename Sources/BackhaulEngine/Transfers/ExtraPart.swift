internal import BackhaulModel
internal import BackhaulTransport

/// A part of an upload that is sent over a connection of its own, while the attempt sends another part. It has the
/// connection until its end.
final class ExtraPart {
    private unowned let runner: UploadRunner
    private(set) var machine: UploadMachine
    private var feed: BodyFeed?
    private var transfer: Transfer?
    /// The SHA-256 of the part, in hexadecimal digits.
    private var payload = RequestSignature.emptyPayload
    private(set) var errorBody: [UInt8] = []
    /// The circumstances of the transfer that failed.
    private(set) var failureContext = FailureContext()

    init(_ machine: UploadMachine, _ runner: UploadRunner) {
        self.machine = machine
        self.runner = runner
    }

    private var attempt: RunningAttempt { runner.attempt }

    /// The sent bytes of the part, until the server has taken it.
    var bodySent: UInt64 { machine.phase == .sending ? transfer?.bodySent ?? 0 : 0 }

    func start() { handle(.start) }

    func stop() { handle(.stop) }

    func tick() {
        // A second in which the transfer waits for the engine does not count as silence of the server.
        guard transfer?.isWaiting != true else { return }
        handle(.tick(wasBodySent: transfer?.isBodySent ?? true))
    }

    private func handle(_ event: UploadMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    private func perform(_ action: UploadMachine.Action) {
        switch action {
        case .openBody(let step): open(step)
        case .startTransfer(let step): startTransfer(step)
        case .stopTransfer: stopTransfer()
        case .releaseSlot: attempt.emit(.releasedConnection)
        case .conclude(let conclusion): runner.ended(self, conclusion)
        // The machine of the attempt records and abandons the upload.
        case .record, .abandon, .stopExtraParts, .close: break
        }
    }

    private func open(_ step: UploadStep) {
        runner.openBody(step) { [weak self] result in
            guard let self, machine.phase == .opening else { return }
            switch result {
            case .success(let body):
                payload = body.payload
                feed = runner.makeFeed(
                    body.range, continues: body.continues, opened: { [weak self] in self?.handle(.opened) }
                ) { [weak self] failure in self?.handle(.bodyFailed(failure)) }
            case .failure(let failure): handle(.bodyFailed(failure))
            }
        }
    }

    private func startTransfer(_ step: UploadStep) {
        do throws(Failure) {
            var request = try attempt.request(of: step, machine.uploadProtocol, size: runner.size)
            request.s3?.payload = payload
            transfer = try attempt.startExtra(request, body: feed, self)
        } catch {
            handle(.transferFailed(error, isTransient: error.isTemporaryShortage))
        }
    }

    private func stopTransfer() {
        guard let transfer else { return }
        attempt.extraTransferEnded(transfer)
        self.transfer = nil
        transfer.cancel()
    }
}

extension ExtraPart: TransferDelegate {
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        handle(runner.event(for: head, transfer))
        runner.responded(self)
        attempt.passEffects()
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        guard runner.mayMove() else { return .pause }
        defer { attempt.passEffects() }
        attempt.takeFromRate(bytes.byteCount)
        attempt.received(bytes.byteCount)
        machine.read(bytes)
        errorBody.append(bytes, atMost: Limits.errorBodySize)
        handle(.received(count: bytes.byteCount, wasBodySent: transfer.isBodySent))
        return .go
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        let wasBodySent = transfer.isBodySent
        attempt.extraTransferEnded(transfer)
        self.transfer = nil
        switch end {
        case .complete, .refused: handle(.transferComplete(wasBodySent: wasBodySent))
        case .failed(let failure, let isTransient, let context):
            failureContext = context
            handle(.transferFailed(failure, isTransient: isTransient))
        }
        attempt.passEffects()
    }
}
