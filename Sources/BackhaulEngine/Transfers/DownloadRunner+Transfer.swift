internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

extension DownloadRunner: TransferDelegate {
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan {
        lastByte = core.loop.now
        noteCredentials(head, transfer)
        machine.question = demand.map { .demand($0) } ?? .nothing
        if head.isHTTP2 { core.scheduler.becameMultiplexed(task.lane) }
        secrets = transfer.secrets
        handle(.head(secrets.redacted(head, requested: task.request.url)))
        return .receive
    }

    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow {
        if machine.phase == .receivingErrorBody {
            lastByte = core.loop.now
            collect(bytes, into: &errorBody, atMost: Limits.errorBodySize)
            core.apply(core.budgets.moved(bytes.byteCount, by: task))
            handle(.received(count: bytes.byteCount))
            return .go
        }
        guard machine.wantsBytes, mayMove() else { return .pause }
        moved(bytes.byteCount)
        core.apply(core.budgets.moved(bytes.byteCount, by: task))
        lastByte = core.loop.now
        rate.add(bytes.byteCount)
        if buffer.isEmpty {
            bufferedSince = core.loop.now
            let rest = machine.size.map { $0 - min($0, machine.offset) } ?? UInt64(bytes.byteCount)
            buffer.reserveCapacity(Int(clamping: min(rest, 320 << 10)))
        }
        bytes.withUnsafeBytes { buffer.append(contentsOf: $0) }
        handle(.received(count: bytes.byteCount))
        if machine.mustFlushSoon { flushAged() }
        return .go
    }

    private func flushAged() {
        let left = bufferedSince + DownloadMachine.BufferLimits.agedMilliseconds - core.loop.now
        if left <= 0 { handle(.aged) } else { core.flushTimer.add(self, within: left) }
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) { take(ended(transfer, end)) }
}
