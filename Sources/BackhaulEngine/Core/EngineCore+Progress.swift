internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// A handle that watches the progress of its session.
struct ProgressWatch {
    let session: SessionID
    let interval: Int64
    /// By the loop's clock.
    var due: Int64
    /// What was last sent of the tasks that run.
    var told: [TaskID: Progress] = [:]
    /// Last readings of tasks that run no more.
    var ended = ProgressTable()
}

/// Live readings, coalesced: what has changed, at most once in the interval, nothing to a peer that has not read the
/// last, and no timer while nothing runs.
extension EngineCore {
    /// Of one client; each may hold the last readings of many tasks.
    private static let watchLimit = 256

    func watchProgress(
        _ connection: ClientConnection, _ handle: HandleID, milliseconds: UInt32
    ) throws(Failure) {
        let address = HandleAddress(connection: connection.id, handle: handle)
        guard milliseconds > 0, let session = connection.handles[handle]?.session else {
            progressWatches[address] = nil
            return
        }
        let others = progressWatches.keys.count { $0.connection == connection.id && $0.handle != handle }
        guard others < Self.watchLimit else {
            throw Failure(.tooMany, "\(others) handles watch progress already; end the stream of some")
        }
        let limits = Limits.progressInterval
        let interval = min(max(milliseconds, limits.lowerBound), limits.upperBound)
        progressWatches[address] = ProgressWatch(session: session, interval: Int64(interval), due: loop.now)
        planProgress()
    }

    func stopProgress(of id: ConnectionID) {
        for address in progressWatches.keys where address.connection == id { progressWatches[address] = nil }
    }

    /// A task runs now, or does not any more.
    func planProgress() {
        guard !progressWatches.isEmpty, progressTimer?.isRunning != true else { return }
        let running = Set(runners.values.map(\.task.session))
        let due = progressWatches.values.filter { running.contains($0.session) || !$0.ended.isEmpty }.map(\.due).min()
        if let due { progressTimer?.start(milliseconds: max(0, due - loop.now)) }
    }

    func taskLeft(_ runner: TaskRunner) {
        guard !progressWatches.isEmpty else { return }
        let last = runner.lastReading
        for (address, watch) in progressWatches where watch.session == runner.task.session {
            progressWatches[address]?.told[runner.task.id] = nil
            progressWatches[address]?.ended.add([last])
        }
        planProgress()
    }

    func sendProgress() {
        for (address, watch) in progressWatches where watch.due <= loop.now {
            guard let connection = connections[address.connection] else {
                progressWatches[address] = nil
                continue
            }
            progressWatches[address]?.due = loop.now + watch.interval
            guard !connection.isBehind() else { continue }
            let now = runners.values.lazy.filter { $0.task.session == watch.session }.map(\.reading)
            var readings = progressWatches[address]?.ended.take() ?? []
            var told: [TaskID: Progress] = [:]
            for reading in now {
                told[reading.task] = reading
                if watch.told[reading.task] != reading { readings.append(reading) }
            }
            progressWatches[address]?.told = told
            guard !readings.isEmpty else { continue }
            connection.deliver(.notice(.progress(address.handle, Array(readings.prefix(2 * ProgressTable.limit)))))
        }
        planProgress()
    }
}
