internal import BackhaulModel
internal import BackhaulStore

/// The source of progress: the running tasks.
protocol ProgressSource: AnyObject {
    var runningSessions: Set<SessionID> { get }
    func readings(of session: SessionID) -> [Progress]
}

/// Sends changed progress to the handles (references to a session) that watch the session. Each handle gets at most one
/// notice (a message of the engine) in its interval. A client with too many unread bytes gets no progress. No timer
/// runs while no task runs.
///
/// Each engine has one object of this type.
final class ProgressPublisher {
    /// The limit on the watches of one client. Each watch may contain the last readings of many tasks.
    private static let watchLimit = 256

    private let runtime: any Runtime
    private let clients: ClientRegistry
    private unowned let source: any ProgressSource
    private var watches: [HandleAddress: ProgressWatch] = [:]
    private var timer: (any RuntimeTimer)?

    private struct ProgressWatch {
        let session: SessionID
        let interval: Int64
        /// The time of the next notice, in milliseconds since boot.
        var due: Int64
        /// For each running task: the reading that was sent last.
        var sent: [TaskID: Progress] = [:]
        /// The last readings of tasks that do not run any more.
        var ended = ProgressTable()
    }

    init(_ runtime: any Runtime, _ clients: ClientRegistry, _ source: any ProgressSource) {
        self.runtime = runtime
        self.clients = clients
        self.source = source
        timer = runtime.timer { [unowned self] in
            send()
            return []
        }
    }

    func close() { timer?.stop() }

    /// Starts a watch of the handle's session. If `milliseconds` is 0, stops the watch.
    func watch(_ address: HandleAddress, milliseconds: UInt32) throws(Failure) {
        let attached = clients[address.connection]?.handles[address.handle]
        guard milliseconds > 0, let session = attached?.session else { return stop(address) }
        let others = watches.keys.count { $0.connection == address.connection && $0.handle != address.handle }
        guard others < Self.watchLimit else {
            throw Failure(.tooMany, "\(others) handles watch progress already; end the stream of some")
        }
        let limits = Limits.progressInterval
        let interval = min(max(milliseconds, limits.lowerBound), limits.upperBound)
        watches[address] = ProgressWatch(session: session, interval: Int64(interval), due: runtime.now)
        if source.runningSessions.contains(session) { schedule { $0.session == session } }
    }

    func stop(_ address: HandleAddress) { watches[address] = nil }

    func stop(of connection: ConnectionID) {
        for address in watches.keys where address.connection == connection { watches[address] = nil }
    }

    /// Notes that a task of the session has started.
    func started(in session: SessionID) { schedule { $0.session == session } }

    /// Starts the timer for the next notice of these watches, unless it fires before that notice.
    private func schedule(_ isMeant: (ProgressWatch) -> Bool) {
        guard let timer, let due = watches.values.lazy.filter(isMeant).map(\.due).min() else { return }
        let delay = max(0, due - runtime.now)
        if !timer.isRunning || delay < timer.millisecondsLeft { timer.start(milliseconds: delay) }
    }

    /// Adds the last reading of a task that does not run any more. The closure `reading` returns this reading. It is
    /// called only if a handle watches progress.
    func ended(_ task: TaskID, of session: SessionID, _ reading: () -> Progress) {
        guard !watches.isEmpty else { return }
        let last = reading()
        for (address, watch) in watches where watch.session == session {
            watches[address]?.sent[task] = nil
            watches[address]?.ended.add([last])
        }
        schedule { $0.session == session }
    }

    private func send() {
        let running = source.runningSessions
        // A watch without news keeps its due time, so that it gets the next reading at once.
        let isActive = { (watch: ProgressWatch) in running.contains(watch.session) || !watch.ended.isEmpty }
        for (address, watch) in watches where watch.due <= runtime.now && isActive(watch) {
            guard let connection = clients[address.connection] else {
                watches[address] = nil
                continue
            }
            watches[address]?.due = runtime.now + watch.interval
            guard !connection.isBackpressured() else { continue }
            send(address, watch, to: connection)
        }
        schedule(isActive)
    }

    private func send(_ address: HandleAddress, _ watch: ProgressWatch, to connection: ClientConnection) {
        var readings = watches[address]?.ended.take() ?? []
        var sent: [TaskID: Progress] = [:]
        for reading in source.readings(of: watch.session) {
            sent[reading.task] = reading
            if watch.sent[reading.task] != reading { readings.append(reading) }
        }
        watches[address]?.sent = sent
        guard !readings.isEmpty else { return }
        connection.deliver(.notice(.progress(address.handle, Array(readings.prefix(2 * ProgressTable.limit)))))
    }
}
