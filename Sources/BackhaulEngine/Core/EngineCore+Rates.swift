internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// Bytes per second, of the engine, a session or a task: transfers ask before they take or send, and are paused until
/// it is their turn. Ours, because libcurl's own limits know one transfer each, and stall on loops like this one.
extension EngineCore {
    typealias Rates = RateBudget<SessionID, TaskID>

    /// Holds at once, for whoever waits, too.
    func setRate(_ bytesPerSecond: UInt64?, of level: Rates.Level) {
        rates.setRate(bytesPerSecond, of: level, now: loop.now)
        planRates()
        guard bytesPerSecond != nil else { return }
        switch level {
        case .engine: for lane in lanes.keys { schedule.setMultiplexed(lane, false) }
        case .session(let session):
            for lane in lanes.values where lane.session == session { schedule.setMultiplexed(lane.id, false) }
        case .task(let task):
            if let lane = runners[task]?.task.lane { schedule.setMultiplexed(lane, false) }
        }
    }

    func setRate(_ bytesPerSecond: UInt64?, of tasks: [TaskID]) {
        for id in tasks {
            ready[id]?.request.options.policy.bytesPerSecond = bytesPerSecond
            guard let runner = runners[id] else { continue }
            runner.task.request.options.policy.bytesPerSecond = bytesPerSecond
            rates.setRate(bytesPerSecond, of: .task(id), now: loop.now)
        }
        planRates()
    }

    /// Once at the end of this turn, however many wait.
    func planRates() {
        guard !ratesArePlanned else { return }
        ratesArePlanned = true
        loop.afterThisTurn { [unowned self] in
            ratesArePlanned = false
            startRateTimer()
        }
    }

    private func startRateTimer() {
        guard let wait = rates.millisecondsToWait(now: loop.now) else {
            rateTimer?.stop()
            return
        }
        rateTimer?.start(milliseconds: wait)
    }

    func releaseRates() {
        for id in rates.release(now: loop.now) { runners[id]?.goOn() }
        startRateTimer()
    }
}

extension TaskRunner {
    /// Whether a byte may be taken or sent now. When not, `goOn` is called when it may.
    func mayMove() -> Bool {
        if core.networkUsage.isSpent, mayBeDeferred, core.reach(of: task) != .thisMachine {
            core.networkUsage.stopped.insert(task.id)
            return false
        }
        guard !core.rates.isUnlimited else { return true }
        if core.rates.mayMove(task.id, of: task.session, now: core.loop.now) { return true }
        core.planRates()
        return false
    }

    func moved(_ count: Int) {
        guard !core.rates.isUnlimited else { return }
        core.rates.moved(count, by: task.id, of: task.session)
    }

    /// A stream of HTTP/2 that is paused holds up all others of its connection, and libcurl 7.88 keeps up to 10 MiB of
    /// it: whoever is limited has a connection of its own.
    var isLimited: Bool { core.rates.isLimited(task.id, of: task.session) }

    var waitsForRate: Bool { core.rates.isWaiting(task.id) }

    func goOn() {
        // It was us who were silent.
        lastByte = core.loop.now
        transfer?.resume()
        transfer?.resumeSending()
    }

    /// The body as it may be sent.
    func limited(_ body: (any TransferBody)?) -> (any TransferBody)? { body.map { LimitedBody($0, self) } }
}

/// A body whose bytes wait for their runner's turn.
private final class LimitedBody: TransferBody {
    private let body: any TransferBody
    private weak var runner: TaskRunner?
    /// Of what libcurl offers room for, when there is a limit: what is sent at once is taken ahead.
    private static let pieceSize = 16_384

    init(_ body: any TransferBody, _ runner: TaskRunner) {
        self.body = body
        self.runner = runner
    }

    var size: UInt64 { body.size }

    func rewind() { body.rewind() }

    func read(into room: inout MutableRawSpan) -> BodyRead {
        guard let runner, !runner.core.rates.isUnlimited else { return body.read(into: &room) }
        guard runner.mayMove() else { return .wait }
        var piece = room._mutatingExtracting(first: Self.pieceSize)
        let read = body.read(into: &piece)
        if case .bytes(let count) = read { runner.moved(count) }
        return read
    }
}
