internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The thread of a session that has a delegate. The *engine*, usually a separate process, performs the session's
/// transfers. The engine stores an *event* (a message), for example when a task has ended. For each event of the
/// session, the thread makes a delegate call, one call after the other. When this call has returned, the thread
/// acknowledges the event: the engine deletes the event.
final class Delivery {
    typealias Job = @Sendable (Delivery) -> Void

    let core: SessionCore
    let session: BackgroundURLSession
    let delegate: any BackgroundURLSessionDelegate
    private let wait: DescriptorWait
    private(set) var consumer: BlockingSession?
    private var cursor: EventID?
    private var unacknowledged: [EventID] = []
    /// The tasks of the unacknowledged events.
    private var unacknowledgedTasks: [TaskID] = []
    /// The ids of `sessionFinished` events, each of which reports that all tasks of the session have ended. These
    /// events are acknowledged after `urlSessionDidFinishEvents`.
    private var finished: [EventID] = []
    /// Whether `urlSessionDidFinishEvents` must be called. In this delegate method, the program calls the completion
    /// handler that it got from `BackgroundApplication`.
    private var owesFinish = false
    private var isOver = false
    /// The challenges that were passed to the delegate and have no response yet, with their events.
    var openChallenges: [ChallengeID: EventID?] = [:]
    /// The delegate's responses to challenges. These responses were not passed to the engine yet.
    var responses: [PendingResponse] = []
    /// The tasks that have failed because the delegate has cancelled their challenge. Their end is not delivered yet.
    var cancelledTasks: Set<TaskID> = []
    private var isToBeCompleted = false

    private init(
        _ core: SessionCore, _ session: BackgroundURLSession, _ delegate: any BackgroundURLSessionDelegate,
        _ wait: DescriptorWait
    ) {
        self.core = core
        self.session = session
        self.delegate = delegate
        self.wait = wait
    }

    static func start(
        _ core: SessionCore, _ session: BackgroundURLSession, _ delegate: any BackgroundURLSessionDelegate,
        _ wait: DescriptorWait
    ) {
        let thread = Thread { Delivery(core, session, delegate, wait).run() }
        thread.name = "backhaul-session"
        thread.start()
    }

    private func run() {
        while !isOver {
            do throws(BackhaulError) {
                try runIteration()
                continue
            } catch {
                switch error.status {
                case .completed: end(nil)
                case .invalidated, .notFound: endOrRenew()
                case .timeout, .engineUnresponsive, .engineFailed, .storeFull, .outOfResources,
                    .daemonUnavailable where consumer != nil:
                    // The thread repeats the iteration later. By then, a new engine may run.
                    wait.wait([], milliseconds: 1000)
                    performJobs()
                default: end(error)
                }
            }
        }
    }

    private func runIteration() throws(BackhaulError) {
        let opened = try core.opened()
        if consumer == nil { try begin(opened) }
        guard let consumer, !isOver else { return }
        performJobs()
        if core.isCancelling { try core.cancelTasks() }
        try sendResponses()
        try drain(consumer)
        deliverNewProgress(try opened.pollProgress())
        if isToBeCompleted { return try complete(consumer) }
        if core.isEnding, try core.info() == nil { return endOrRenew() }
        if core.isInvalidating, try isFinished(consumer) { return end(nil) }
        if isOver { return }
        wait.wait([consumer.eventDescriptor, opened.progressDescriptor], milliseconds: -1)
    }

    /// Attaches to the engine's session as the consumer, the one process that gets the session's events. Then delivers
    /// the waiting events and the open challenges.
    private func begin(_ opened: BlockingSession) throws(BackhaulError) {
        let application = try BackgroundApplication.shared.opened()
        if BackgroundApplication.isLaunched && BackgroundApplication.shared.isCalled(for: core.identifier) {
            // The engine has launched this program. If the user runs the program in another process, the other process
            // delivers the events. So the launched program does not wait for the session.
            consumer = try application.attachSession(core.identifier, role: .consume)
        } else {
            consumer = try application.consumeSession(core.identifier) {
                performJobs()
                if let readings = try? opened.pollProgress() { deliverNewProgress(readings) }
                return isOver
            }
        }
        guard let consumer else { return }
        if BackgroundApplication.shared.isOwing(core.identifier) { oweFinish() }
        try drain(consumer, thenFinish: false)
        for challenge in try opened.run(.challenges) where openChallenges[challenge.id] == nil {
            try deliver(challenge, event: nil, opened)
        }
    }

    /// Delivers all waiting events. If `thenFinish` and `owesFinish` are true, the method then calls
    /// `urlSessionDidFinishEvents`.
    private func drain(_ consumer: BlockingSession, thenFinish: Bool = true) throws(BackhaulError) {
        try flush(consumer)
        while !isOver {
            let (events, more) = try consumer.run(.poll(after: cursor, maximum: 64))
            for event in events where !isOver {
                if case .taskEnded(let ending) = event {
                    waitForProgram(taskIdentifier(key: ending.idempotencyKey, id: ending.taskID))
                } else {
                    waitForProgram(nil)
                }
                try deliver(event, consumer)
                cursor = event.id
            }
            performJobs()
            if !more { break }
        }
        guard thenFinish, !isOver else { return }
        if owesFinish {
            owesFinish = false
            onQueue { [session, delegate] in delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session) }
        } else if BackgroundApplication.shared.isCalled(for: core.identifier) {
            // The application's delegate was called for this session, and the session is not completed yet. So the
            // `sessionFinished` events are acknowledged later.
            return
        }
        unacknowledged += finished
        finished = []
        try flush(consumer)
    }

    /// Waits until no listing is in progress, and until the program can know the task with this identifier. Performs
    /// jobs during this wait.
    func waitForProgram(_ identifier: Int?) {
        var hasWaited = false
        while !isOver {
            if core.isListing {
                wait.wait([], milliseconds: -1)
            } else if let identifier, core.delaysCalls(for: identifier) {
                core.gate.waitForStep(wait)
            } else {
                break
            }
            performJobs()
            hasWaited = true
        }
        // A job may have added a response to a challenge, or another thread may have begun a cancellation. The waits
        // above consumed the wake-ups for these changes. After this wake-up, the next iteration sees the changes.
        if hasWaited { wait.wake() }
    }

    /// Delivers the progress after a listing has ended. This process may not know the tasks of the readings before, and
    /// the engine reports each reading one time.
    private func deliverNewProgress(_ readings: [TaskProgress]) {
        waitForProgram(nil)
        deliverProgress(readings)
    }

    private func deliver(_ event: Event, _ consumer: BlockingSession) throws(BackhaulError) {
        switch event {
        case .taskEnded(let ending):
            core.isBeingDelivered(ending.taskID)
            if !core.isSilenced(ending.taskID), try !core.wasKept(ending) {
                deliver(ending, of: event.id) { _ = try? consumer.run(.acknowledge([event.id])) }
            }
            unacknowledged.append(event.id)
            unacknowledgedTasks.append(ending.taskID)
            try flush(consumer)
        case .sessionFinished(let ending):
            finished.append(ending.id)
            core.finishedRound = ending.round
            oweFinishAgain()
        case .challenge(let event):
            oweFinishAgain()
            guard let challenge = event.challenge, openChallenges[challenge.id] == nil else {
                unacknowledged.append(event.id)
                return
            }
            try deliver(challenge, event: event.id, try core.opened())
        case .groupFinished(let ending): unacknowledged.append(ending.id)
        case .activity(let event): unacknowledged.append(event.id)
        case .unknown(let id, _): unacknowledged.append(id)
        }
    }

    /// Records that `urlSessionDidFinishEvents` must be called.
    func oweFinish() { owesFinish = true }

    /// Records that `urlSessionDidFinishEvents` must be called again, if the program has not called its completion
    /// handler yet.
    private func oweFinishAgain() {
        if BackgroundApplication.shared.isOwing(core.identifier) { owesFinish = true }
    }

    private func flush(_ consumer: BlockingSession) throws(BackhaulError) {
        try consumer.run(.acknowledge(unacknowledged))
        for event in unacknowledged { ExitAcknowledgements.end(event) }
        core.areAcknowledged(unacknowledgedTasks)
        (unacknowledged, unacknowledgedTasks) = ([], [])
    }

    func acknowledgeLater(_ event: EventID) { unacknowledged.append(event) }

    func performJobs() {
        for job in core.takeJobs() { job(self) }
    }

    /// Performs a delegate call on the delegate's queue, and waits until the call has returned.
    func onQueue(_ message: @escaping @Sendable () -> Void) {
        let isDone = Locked(false)
        // If the program cancels the operations of the queue, the operation ends before it has made the call. In this
        // case, the call is queued again.
        while !isDone.with({ $0 }) {
            let operation = BlockOperation {
                message()
                isDone.with { $0 = true }
            }
            core.queue.addOperation(operation)
            operation.waitUntilFinished()
        }
    }

    // MARK: The end

    /// Records that the program has called its completion handler. The thread then completes the session: it reports to
    /// the engine that all events are processed.
    func completeSoon() { isToBeCompleted = true }

    private func complete(_ consumer: BlockingSession) throws(BackhaulError) {
        // The delegate has not responded to the open challenges. The thread acknowledges their events, because
        // otherwise the engine would launch the program again for these events.
        unacknowledged += openChallenges.values.compactMap { $0 } + finished
        finished = []
        openChallenges = openChallenges.mapValues { _ in nil }
        try flush(consumer)
        do throws(BackhaulError) {
            try consumer.run(.complete)
        } catch {
            if error.status == .eventsOutstanding { return try drain(consumer) }
            throw error
        }
        isToBeCompleted = false
        BackgroundApplication.shared.isCompleted(core.identifier)
        // If the engine launched this program for the session, `complete()` has ended the handle `consumer`. In this
        // case, the poll throws `.completed`.
        try consumer.run(.poll(after: cursor, maximum: 1))
    }

    /// Whether all tasks of an invalidated session have ended, and all events are delivered. Before the function
    /// returns true, it removes the engine's session if no other process waits for it.
    private func isFinished(_ consumer: BlockingSession) throws(BackhaulError) -> Bool {
        guard !core.hasUnresumedTasks, try core.isWithoutTasks() else { return false }
        // Tasks may have ended since the last call of `drain`.
        try drain(consumer)
        unacknowledged += openChallenges.values.compactMap { $0 } + finished
        (openChallenges, finished) = ([:], [])
        try flush(consumer)
        try core.removeIfEmpty()
        return true
    }

    /// If another program has removed the engine's session, opens a new session with the same identifier. If this
    /// process has invalidated the session itself, ends the session instead.
    private func endOrRenew() {
        if isOver || core.isInvalidating { return end(nil) }
        consumer?.close()
        (consumer, cursor) = (nil, nil)
        (unacknowledged, unacknowledgedTasks, finished, openChallenges, responses) = ([], [], [], [:], [])
        let (pending, lost) = core.renew()
        let reason = urlError(BackhaulError(.invalidated, message: "The session was ended by another host."), nil)
        for task in lost { fail(task, reason) }
        core.enqueuePending(pending)
    }

    func end(_ cause: BackhaulError?) {
        guard !isOver else { return }
        isOver = true
        consumer?.close()
        let error = cause.map { urlError($0, nil) }
        let (jobs, tasks) = core.end(cause)
        for job in jobs { job(self) }
        // If there is an error, the last delegate call for each task is made now. If there is no error, the last
        // delegate call is made only for tasks that the engine does not have. The engine's tasks continue. The next
        // session object with this identifier delivers the ends of these tasks.
        for task in tasks where task.state != .completed && (error != nil || task.engineTaskIdentifier == nil) {
            fail(task, error ?? urlError(BackhaulError(.invalidated, message: "The session has ended."), nil))
        }
        onQueue { [session, delegate] in delegate.urlSession(session, didBecomeInvalidWithError: error) }
        isToBeCompleted = false
        BackgroundApplication.shared.isCompleted(core.identifier)
    }
}
