internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// Runs one attempt of a download. A `DownloadMachine` decides the actions, without I/O. The runner performs these
/// actions with the transport, the disk and the store, and returns the results to this state machine.
final class DownloadRunner: TransferRunner {
    let attempt: RunningAttempt
    let location: PartLocation
    private let part: PartFile
    private(set) var machine: DownloadMachine
    private var buffer: [UInt8] = []
    /// The time at which the first byte of the buffer arrived, in milliseconds since boot.
    private var bufferedSince: Int64 = 0
    /// The record of the file that an earlier task placed at the destination (the path of the finished download).
    private var known: StoredRepresentation?
    /// The file that this task has placed.
    private(set) var placed: FileStamp?
    /// Whether the part file could not be removed, for example because its file system is away.
    private(set) var isPartLeft = false
    /// Whether the list of leftovers got the part file.
    var mustSweep = false
    /// Whether the slot was released before the part file was closed.
    private var finishesWithoutSlot = false
    /// The file system to which the download writes.
    private var device: UInt64 { location.destination.directoryDevice }

    init(_ attempt: RunningAttempt, _ location: PartLocation) {
        let task = attempt.task
        self.attempt = attempt
        self.location = location
        part = attempt.services.disk.partFile(location)
        var terms = DownloadTerms(task.request, attempt.terms.configuration)
        // With `skipsExisting`, a task ends without a request if the right file already exists at the destination. The
        // runner checks for such a file only before the task's first request.
        terms.skipsExisting = terms.skipsExisting && task.attempts == 0
        terms.hadMismatch = task.hadMismatch
        terms.neededSpace = attempt.terms.neededSpace
        terms.mayRequest = attempt.holdsSlot
        machine = DownloadMachine(
            checkpoint: task.checkpoint, intent: task.intent, bootID: attempt.services.runtime.clocks.bootID,
            terms: terms, furthest: task.furthestOffset, policy: attempt.terms.policy)
    }

    var isFinishing: Bool { machine.isFinishing }
    var hasAllBytes: Bool { machine.phase == .receiving && machine.size == machine.offset }
    var head: ResponseHead? { machine.head }
    var receivedInAttempt: UInt64 { machine.bytesReceived }
    var furthest: UInt64 { machine.furthest }
    var madeProgress: Bool { machine.madeProgress }
    var mayBeRefreshed: Bool { true }
    var asksForOffset: Bool { false }
    var continuesUpload: Bool { false }
    var uploadResource: UploadResource? { nil }
    var bytesLostByStop: UInt64 { machine.checkpoint == nil ? machine.offset : 0 }
    var file: (offset: UInt64, size: UInt64?)? { machine.progress }
    var body: (sent: UInt64, size: UInt64?)? { nil }
    var awaitsResponse: Bool { machine.phase == .requesting }
    var hasNoResponse: Bool { head == nil }
    var silenceDescription: String { "sent nothing" }
    var finishing: String? {
        if machine.isFinishing { return "all bytes are here and are being made durable" }
        return machine.phase == .checkingDestinationFile ? "the file at the destination is being verified" : nil
    }

    func process(_ event: RunnerEvent) {
        switch event {
        case .start: handle(interruption.map { .expire($0) } ?? .start)
        case .concluded: handle(.concluded)
        case .retryRefused: handle(.retryRefused)
        case .cancel: handle(.cancel)
        case .stop: handle(.stop)
        case .expire(let failure): handle(.expire(failure))
        case .tick: handle(.tick)
        case .transferComplete: handle(.transferComplete)
        case .transferFailed(let failure, let isTransient): handle(.transferFailed(failure, isTransient: isTransient))
        }
    }

    func handle(_ event: DownloadMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    // MARK: Actions

    private func perform(_ action: DownloadMachine.Action) {
        switch action {
        case .checkSealedFile(let intent):
            part.inspect(for: intent, then: disk { .sealedFileChecked(isThere: $0 != .absent) })
        case .openPart(let isSameBoot, let syncedOffset):
            let trusted: TrustedLength = isSameBoot ? .allWritten(atLeastSynced: syncedOffset) : .synced(syncedOffset)
            let fingerprints = machine.checkpoint?.fingerprints(isSameBoot: isSameBoot) ?? []
            part.openResuming(trusting: trusted, as: fingerprints, then: disk { .opened(length: $0) })
        case .checkSpace(let missing, let size, let replacesPart):
            part.checkSpace(
                for: missing, ofFileOf: size, replacesPart: replacesPart, then: disk { _ in .spaceChecked })
        case .checkDestinationFile(let size, let algorithm):
            attempt.services.disk.find(
                location.destination, size: size, algorithm, then: disk { .destinationFileChecked($0) })
        case .findKnownRepresentation: findKnownRepresentation()
        case .recheckDestinationFile: checkKnownFile { .destinationFileRechecked(isSame: $0) }
        case .reserveName(let name): reserveName(name)
        case .hash(let algorithm): part.hash(algorithm)
        case .startTransfer(let offset, let ifRange, let condition):
            guard !attempt.mayRepeat else { return startTransfer(offset, ifRange, condition) }
            recordUnderWay { [self] in startTransfer(offset, ifRange, condition) }
        case .stopTransfer: attempt.stopTransfer()
        case .resumeTransfer: attempt.transfer?.resume()
        case .releaseSlot: if !finishesWithoutSlot { attempt.emit(.releaseSlotEarly) }
        case .forgetCheckpoint: forgetCheckpoint()
        case .restartPart: part.openResuming(trusting: .nothing, then: disk { _ in nil })
        case .flush:
            let bytes = takeBuffer()
            part.append(bytes, then: disk(writing: bytes.count) { .appended(length: $0.length, $0.fingerprint) })
        case .sync: part.sync(then: disk { .synced(length: $0.length, checksum: $0.fingerprint?.checksum) })
        case .recordCheckpoint(let checkpoint): recordCheckpoint(checkpoint)
        case .seal(let size):
            let bytes = takeBuffer()
            part.seal(bytes, expected: size, then: disk(writing: bytes.count) { .sealed($0.intent, $0.checksum) })
        case .recordIntent(let intent):
            CrashPoint.afterSeal.reach()
            recordIntent(intent)
        case .place(let intent): place(intent)
        case .discardPart: discardPart()
        case .conclude(let conclusion, let checkpoint): conclude(conclusion, checkpoint)
        case .closePart:
            part.close()
            if finishesWithoutSlot { attempt.emit(.finishedWithoutSlot(device: device)) }
            if isPartLeft || mustSweep { attempt.emit(.partLeft) }
            attempt.finish()
        }
    }

    private func discardPart() {
        part.discard(
            then: attempt.services.runtime.returning { [self] (result: Result<Void, Failure>) in
                attempt.afterwards {
                    if case .failure = result { isPartLeft = true }
                    handle(.discarded)
                }
            })
    }

    /// Releases the slot while the disk still has to do work, so that the next task can start. If the disk has to
    /// finish a complete file, and too much other work waits for the disk, the slot is released only with the part
    /// file.
    func releaseSlotEarly(_ disks: inout DiskLoad) -> [EngineEffect] {
        guard !attempt.isOver, !finishesWithoutSlot, !(isFinishing && disks.isBusy(device)) else { return [] }
        finishesWithoutSlot = true
        disks.beginFinishing(on: device)
        attempt.releaseSlot()
        return attempt.takeEffects()
    }

    /// Writes the buffer, because its bytes have been in memory for the longest permitted time.
    func flush() -> [EngineEffect] { attempt.afterwards { handle(.aged) } }

    private func startTransfer(_ offset: UInt64, _ ifRange: String?, _ condition: KnownRepresentation?) {
        let runtime = attempt.services.runtime
        attempt.exchange.begin(from: offset, now: runtime.now, wall: runtime.clocks.wallMilliseconds)
        attempt.feed = makeFeed { [weak self] failure in
            self?.attempt.stopTransfer()
            self?.handle(.transferFailed(failure, isTransient: failure.isTemporaryShortage))
        }
        do throws(Failure) {
            var request = attempt.request(ifRange: ifRange)
            request.range = machine.requestedBytes(from: offset)
            request.condition = condition
            request.bypassesCaches = machine.bypassesCaches
            try attempt.start(request, self)
        } catch {
            handle(.transferFailed(error, isTransient: error.isTemporaryShortage))
        }
    }

    // MARK: Received bytes

    /// Returns false if the bytes cannot be taken now. The transfer is resumed when the bytes can be taken.
    private func receive(_ bytes: RawSpan) -> Bool {
        guard machine.wantsBytes, mayMove() else { return false }
        attempt.takeFromRate(bytes.byteCount)
        attempt.received(bytes.byteCount)
        let kept = machine.bytesOfFile(among: bytes.byteCount)
        guard !kept.isEmpty else { return true }
        let now = attempt.services.runtime.now
        if buffer.isEmpty {
            bufferedSince = now
            let rest = machine.size.map { $0 - min($0, machine.offset) } ?? UInt64(kept.count)
            buffer.reserveCapacity(Int(clamping: min(rest, 320 << 10)))
        }
        bytes.withUnsafeBytes { buffer.append(contentsOf: $0[kept]) }
        handle(.received(count: kept.count))
        guard machine.mustFlushSoon else { return true }
        let left = bufferedSince + DownloadMachine.BufferLimits.agedMilliseconds - now
        if left <= 0 { handle(.aged) } else { attempt.services.flushTimer.add(self, within: left) }
        return true
    }

    private func takeBuffer() -> [UInt8] {
        defer { buffer = [] }
        return buffer
    }

    // MARK: The disk

    /// Returns a call-back for a disk thread. From the thread's result, the call-back makes an event for the state
    /// machine. `writing`: the number of bytes that stay in memory until the call-back runs.
    private func disk<Value: Sendable>(
        writing count: Int = 0, _ event: @escaping (Value) -> DownloadMachine.Event?
    ) -> @Sendable (Result<Value, Failure>) -> Void {
        if count > 0 { attempt.emit(.willWrite(count, device: device)) }
        return attempt.services.runtime.returning { [self] (result: Result<Value, Failure>) in
            if count > 0 { attempt.emit(.wrote(count, device: device)) }
            return attempt.afterwards {
                switch result {
                case .success(let value): if let event = event(value) { handle(event) }
                case .failure(let failure): handle(.diskFailed(failure))
                }
            }
        }
    }

    private func place(_ intent: FinishIntent) {
        CrashPoint.afterIntent.reach()
        part.place(
            intent,
            then: attempt.returning { [self] (result: Result<FileStamp, Failure>) in
                switch result {
                case .success(let stamp):
                    placed = stamp
                    handle(.placed)
                case .failure(let failure): handle(.diskFailed(failure))
                }
            })
    }

    // MARK: The store

    private func forgetCheckpoint() {
        let id = attempt.task.id
        attempt.store(
            { (transaction) throws(Failure) in
                try transaction.attempts.forgetProgress(id)
            },
            then: { [self] result in
                switch result {
                case .success: handle(.forgotten)
                case .failure(let failure): handle(.diskFailed(failure))
                }
            })
    }

    /// Reserves the first number that neither a task nor a file has. The file is looked for after the reservation: a
    /// task that had the name before has placed its file by then.
    private func reserveName(_ name: String, from first: Int = 0) {
        let (id, directory) = (attempt.task.id, location.destination.path)
        attempt.store(
            { (transaction) throws(Failure) in
                try transaction.destinations.reserveName(name, from: first, in: directory, for: id)
            },
            then: { [self] result in
                switch result {
                case .success(let number):
                    let reserved = DownloadMachine.Event.nameReserved(ServerFileName.numbered(name, number))
                    guard attempt.task.request.ifExists == .fail else { return handle(reserved) }
                    part.freeNumber(
                        of: name, from: number,
                        then: disk { [self] free in
                            if free == number { return reserved }
                            reserveName(name, from: free)
                            return nil
                        })
                case .failure(let failure): handle(.diskFailed(failure))
                }
            })
    }

    private func recordCheckpoint(_ checkpoint: Checkpoint) {
        CrashPoint.beforeCheckpoint.reach()
        let id = attempt.task.id
        let progress = AttemptProgress(
            attempts: attempt.requests, bytesReceived: bytesReceived, furthestOffset: machine.furthest,
            madeProgress: machine.madeProgress, attempt: storedAttempt(.stopped))
        attempt.store(
            { (transaction) throws(Failure) in
                try transaction.attempts.recordCheckpoint(id, checkpoint, progress)
            },
            then: { [self] _ in
                CrashPoint.afterCheckpoint.reach()
                handle(.checkpointRecorded)
            })
    }

    private var responseSummary: ResponseSummary {
        let response = machine.head.map { ResponseSummary($0, attempt.authentication.secrets) } ?? ResponseSummary()
        // The checkpoint is the stored record of the bytes from earlier attempts. If the response has status 206, the
        // attempt continued the file of the checkpoint, so the checkpoint's fields can complete the response. If the
        // status is 200, the file is a different one, and the fields of the checkpoint do not describe it.
        guard let checkpoint = machine.checkpoint, machine.head?.status ?? 206 == 206 else { return response }
        return response.completed(from: checkpoint)
    }

    private func recordIntent(_ intent: FinishIntent) {
        let (id, attempts, bytes, checksum) = (attempt.task.id, attempt.requests, bytesReceived, machine.checksum)
        let response = responseSummary
        let stored = storedAttempt(.end)
        attempt.exchange.recorded = stored
        let mayBeDelayed = !hasSentUnrepeatableRequest && attempt.services.endings.expectsFurtherEnds
        attempt.store(
            { (transaction) throws(Failure) in
                try transaction.attempts.recordIntent(
                    id, intent, response: response, checksum: checksum, attempts: attempts, bytesReceived: bytes,
                    attempt: stored)
            }, mayBeDelayed: mayBeDelayed,
            then: { [self] result in
                switch result {
                case .success(let isRecorded):
                    attempt.commitSucceeded()
                    handle(isRecorded ? .intentRecorded : .intentRefused)
                case .failure(let failure):
                    attempt.retryCommit(after: failure) { [unowned self] in recordIntent(intent) }
                }
            })
    }

    // MARK: The file at the destination

    private func findKnownRepresentation() {
        let task = attempt.task
        let (session, path, url) = (task.session, location.destination.path, task.request.url)
        attempt.store(
            { (transaction) throws(Failure) in
                try transaction.destinations.representation(at: path, of: url, in: session)
            },
            then: { [self] result in
                // Without the record, the whole file is fetched. This is always correct.
                guard case .success(let stored?) = result else { return handle(.knownRepresentationFound(nil)) }
                known = stored
                checkKnownFile { .knownRepresentationFound($0 ? stored.representation : nil) }
            })
    }

    /// Checks whether the file at the destination is still the recorded file.
    private func checkKnownFile(_ event: @escaping (Bool) -> DownloadMachine.Event) {
        guard let known else { return handle(event(false)) }
        let stamp = FileStamp(
            inode: known.inode, size: known.representation.size, modifiedNanoseconds: known.modifiedNanoseconds)
        attempt.services.disk.inspect(location.destination, for: stamp, then: disk { event($0) })
    }
}

extension DownloadRunner: TransferDelegate {
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        attempt.exchange.lastByte = attempt.services.runtime.now
        noteCredentials(head, transfer)
        machine.challenge = attempt.authentication.authChallenge.map { .authChallenge($0) } ?? .nothing
        attempt.noteProtocol(of: head)
        attempt.authentication.secrets = transfer.secrets
        handle(.head(transfer.secrets.redacted(head, requested: attempt.task.request.url)))
        attempt.passEffects()
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        defer { attempt.passEffects() }
        if machine.phase == .receivingErrorBody {
            attempt.received(bytes.byteCount)
            if let refresh = collectErrorBody(bytes) { machine.challenge = .authChallenge(refresh) }
            machine.hasExpiredCredentials = hasExpiredCredentials
            handle(.received(count: bytes.byteCount))
            return .go
        }
        return receive(bytes) ? .go : .pause
    }

    func transfer(_ transfer: Transfer, delayOfRedirectFrom sender: Origin, to target: Origin) -> Int64? {
        delayOfRedirect(from: sender, to: target)
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        process(ended(transfer, end))
        attempt.passEffects()
    }
}
