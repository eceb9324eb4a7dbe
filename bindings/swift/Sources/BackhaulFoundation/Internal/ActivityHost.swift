internal import Backhaul
internal import Foundation

/// Calls the block of each scheduler of this process when the scheduler's activity is due. An activity is a schedule
/// for work. The engine, which is usually a separate process, stores the activity. Activities have a session of their
/// own. When an activity is due, this session gets an *event* (a stored message). One thread reads the events of this
/// session.
final class ActivityHost: Sendable {
    /// The identifier of the session for activities. The program's own sessions have other identifiers.
    static let session = "backhaul-activities"
    static let shared = ActivityHost()

    private struct Inner {
        var schedulers: [String: BackgroundActivityScheduler] = [:]
        var isRunning = false
        /// Whether the engine launched this process for activities, and the launch is not completed yet. To complete a
        /// launch is to report to the engine that the work of the launch is done.
        var isLaunched = false
        /// The activities whose event is not acknowledged yet, with their events. The block of such an activity runs,
        /// or this process has no scheduler for the activity yet.
        var outstanding: [String: EventID] = [:]
        var runs: Set<String> = []
        var done: [EventID] = []
    }

    private let inner = Locked(Inner())
    /// The open session. Nil before its first use. The mutex is locked while the session is being opened.
    private let opening = Locked<BlockingSession?>(nil)
    private let wait = try? DescriptorWait()

    func set(_ scheduler: BackgroundActivityScheduler, _ activity: Activity) throws(BackhaulError) {
        try opened().run(.setActivity(activity))
        inner.with { $0.schedulers[scheduler.identifier] = scheduler }
        begin(isLaunched: false)
    }

    func remove(_ scheduler: BackgroundActivityScheduler) throws(BackhaulError) {
        inner.with { $0.schedulers[scheduler.identifier] = nil }
        try opened().run(.removeActivity(scheduler.identifier))
    }

    /// Starts the thread. If the thread already runs, wakes it.
    func begin(isLaunched: Bool) {
        let starts = inner.with { inner in
            inner.isLaunched = inner.isLaunched || isLaunched
            defer { inner.isRunning = true }
            return !inner.isRunning
        }
        guard starts, let wait else {
            self.wait?.wake()
            return
        }
        let thread = Thread { self.run(wait) }
        thread.name = "backhaul-activities"
        thread.start()
    }

    private func opened() throws(BackhaulError) -> BlockingSession {
        let result: Result<BlockingSession, BackhaulError> = opening.with { opened in
            if let opened { return .success(opened) }
            do throws(BackhaulError) {
                let application = try BackgroundApplication.shared.opened()
                let session = try application.createSession(
                    SessionConfiguration(identifier: ActivityHost.session), role: .produce)
                opened = session
                return .success(session)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    // MARK: The thread

    private func run(_ wait: DescriptorWait) {
        var consumer: BlockingSession?
        var cursor: EventID?
        while true {
            do throws(BackhaulError) {
                if consumer == nil {
                    (consumer, cursor) = (try attached(), nil)
                    inner.with { inner in
                        inner.outstanding = inner.outstanding.filter { inner.runs.contains($0.key) }
                    }
                }
                guard let consumer else { return end() }
                try take(consumer, &cursor)
                callSchedulers()
                if try complete(consumer) { return end() }
                wait.wait([consumer.eventDescriptor], milliseconds: -1)
            } catch {
                if error.status == .invalidHandle || error.status == .forked { return end() }
                if error.status == .inUse && consumer == nil { return end() }
                // The thread attaches to the session again later. By then, a new engine may run, or another process may
                // have released the session.
                consumer?.close()
                consumer = nil
                wait.wait([], milliseconds: 1000)
            }
        }
    }

    private func attached() throws(BackhaulError) -> BlockingSession? {
        // `opened` creates the session if it does not exist yet, because only an existing session can be attached.
        _ = try opened()
        let application = try BackgroundApplication.shared.opened()
        // Another process of this program may already read the session's events and call its own schedulers. In this
        // case, a launched process is not needed, so the launched process does not wait for the session.
        if BackgroundApplication.isLaunched {
            return try application.attachSession(ActivityHost.session, role: .consume)
        }
        return try application.consumeSession(ActivityHost.session) { false }
    }

    /// Reads the waiting events. Stores the newest event of each activity, and acknowledges all other events.
    private func take(_ consumer: BlockingSession, _ cursor: inout EventID?) throws(BackhaulError) {
        var more = true
        while more {
            let page = try consumer.run(.poll(after: cursor, maximum: 64))
            inner.with { inner in
                for event in page.events {
                    guard case .activity(let due) = event else {
                        inner.done.append(event.id)
                        continue
                    }
                    // A new engine may return an event that this process has already read. Such an event must not be
                    // acknowledged here.
                    if let known = inner.outstanding[due.activity], known != due.id { inner.done.append(known) }
                    inner.outstanding[due.activity] = due.id
                }
            }
            cursor = page.events.last?.id ?? cursor
            more = page.more
        }
        let done = inner.with { $0.done }
        try consumer.run(.acknowledge(done))
        inner.with { $0.done.removeFirst(done.count) }
    }

    private func callSchedulers() {
        let due = inner.with { inner -> [BackgroundActivityScheduler] in
            let due = inner.outstanding.keys.filter { !inner.runs.contains($0) }.compactMap { inner.schedulers[$0] }
            inner.runs.formUnion(due.map(\.identifier))
            return due
        }
        for scheduler in due {
            scheduler.run { result in self.isDone(scheduler, result) }
        }
    }

    private func isDone(_ scheduler: BackgroundActivityScheduler, _ result: BackgroundActivityScheduler.Result) {
        let isScheduled = inner.with { $0.schedulers[scheduler.identifier] === scheduler }
        if result == .deferred, isScheduled {
            try? opened().run(.setActivity(scheduler.deferred()))
        } else if isScheduled, !scheduler.repeats, scheduler.isUnchangedSinceRun {
            // After the only start of an activity that does not repeat, the engine removes the activity. But each run
            // of the program calls `schedule`, which stores the activity again. So the activity is removed here, too.
            try? remove(scheduler)
        }
        inner.with { inner in
            inner.runs.remove(scheduler.identifier)
            if let event = inner.outstanding.removeValue(forKey: scheduler.identifier) { inner.done.append(event) }
        }
        wait?.wake()
    }

    /// If this process was launched for activities, and no block runs any more, completes the launch and returns true.
    private func complete(_ consumer: BlockingSession) throws(BackhaulError) -> Bool {
        let isOver = inner.with { inner in
            guard inner.isLaunched, inner.runs.isEmpty else { return false }
            // The remaining events belong to activities that this program no longer schedules. The events are
            // acknowledged, because no process would ever do the work of these activities.
            inner.done += inner.outstanding.values
            inner.outstanding = [:]
            return true
        }
        guard isOver else { return false }
        let done = inner.with { $0.done }
        try consumer.run(.acknowledge(done))
        inner.with { $0.done.removeFirst(done.count) }
        do throws(BackhaulError) {
            try consumer.run(.complete)
        } catch {
            // If a polled event is not acknowledged yet, the launch continues, and the thread polls again.
            if error.status == .eventsOutstanding {
                wait?.wake()
                return false
            }
            throw error
        }
        consumer.close()
        return true
    }

    private func end() {
        let wasLaunched = inner.with { inner in
            defer { (inner.isRunning, inner.isLaunched) = (false, false) }
            return inner.isLaunched
        }
        if wasLaunched {
            // A launched process does not need the session any more, so the session is closed. The next `schedule`
            // opens the session again.
            opening.with { session in
                session?.close()
                session = nil
            }
        }
        BackgroundApplication.shared.isCompleted(ActivityHost.session)
    }
}
