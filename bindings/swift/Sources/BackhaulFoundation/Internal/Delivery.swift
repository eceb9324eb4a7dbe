internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The thread of a session that has a delegate. It hands the session's events out as delegate messages, one after the
/// other, and acknowledges each when its message has returned.
final class Delivery {
    typealias Job = @Sendable (Delivery) -> Void

    let core: SessionCore
    let session: BackgroundURLSession
    let delegate: any BackgroundURLSessionDelegate
    private let wait: DescriptorWait
    private(set) var consumer: BlockingSession?
    private var cursor: EventID = 0
    private var unacknowledged: [EventID] = []
    /// The tasks among them.
    private var unacknowledgedTasks: [TaskID] = []
    /// Events of rounds that are acknowledged when the delegate knows that all is delivered.
    private var finished: [EventID] = []
    /// `urlSessionDidFinishEvents` is to be called, because the program has a completion handler to call.
    private var owesFinish = false
    private var isOver = false
    /// Challenges that the delegate has and did not answer yet, with their events.
    var unanswered: [UInt64: EventID?] = [:]
    /// What the delegate has answered and the engine was not told yet.
    var answers: [ChallengeAnswer] = []
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
                try turn()
                continue
            } catch {
                switch error.status {
                case .completed: end(nil)
                case .invalidated, .notFound: endOrRenew()
                case .timeout, .engineUnresponsive, .engineFailed, .storeFull, .outOfResources:
                    // The engine, or another one, may do it later.
                    wait.wait([], milliseconds: 1000)
                    performJobs()
                default: end(urlError(error, nil))
                }
            }
        }
    }

    private func turn() throws(BackhaulError) {
        let opened = try core.opened()
        if consumer == nil { try begin(opened) }
        guard let consumer, !isOver else { return }
        performJobs()
        if core.isCancelling { try core.cancelTasks() }
        try giveAnswers()
        try drain(consumer)
        tellProgress(try opened.pollProgress())
        if isToBeCompleted { return try complete(consumer) }
        if core.isEnding, try core.info() == nil { return endOrRenew() }
        if core.isInvalidating, try isFinished(consumer) { return end(nil) }
        if isOver { return }
        wait.wait([consumer.eventDescriptor, opened.progressDescriptor], milliseconds: -1)
    }

    /// Waits for the session's events, and first tells of what is open in it.
    private func begin(_ opened: BlockingSession) throws(BackhaulError) {
        let application = try BackgroundApplication.shared.opened()
        if BackgroundApplication.isLaunched && BackgroundApplication.shared.isCalled(for: core.identifier) {
            // When its user has opened the program meanwhile, that one sees to it all and nobody is to wait.
            consumer = try application.attachSession(core.identifier, role: .consume)
        } else {
            consumer = try application.consumeSession(core.identifier) {
                performJobs()
                if let readings = try? opened.pollProgress() { tellProgress(readings) }
                return isOver
            }
        }
        guard let consumer else { return }
        if BackgroundApplication.shared.isOwing(core.identifier) { oweFinish() }
        try drain(consumer, thenFinish: false)
        for challenge in try opened.challenges() where unanswered[challenge.id] == nil {
            try tell(challenge, event: nil, opened)
        }
    }

    /// Delivers all that waits.
    private func drain(_ consumer: BlockingSession, thenFinish: Bool = true) throws(BackhaulError) {
        try flush(consumer)
        while !isOver {
            let (events, more) = try consumer.poll(after: cursor, maximum: 64)
            for event in events where !isOver {
                while core.isListing {
                    wait.wait([], milliseconds: -1)
                    performJobs()
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
            // The program's delegate is being called: what has finished is not over before it knows.
            return
        }
        unacknowledged += finished
        finished = []
        try flush(consumer)
    }

    private func deliver(_ event: Event, _ consumer: BlockingSession) throws(BackhaulError) {
        switch event {
        case .taskEnded(let ending):
            core.isBeingDelivered(ending.taskID)
            if !core.isSilenced(ending.taskID) { tell(ending) }
            unacknowledged.append(ending.id)
            unacknowledgedTasks.append(ending.taskID)
            try flush(consumer)
        case .sessionFinished(let ending):
            finished.append(ending.id)
            core.finishedRound = ending.round
            oweFinishAgain()
        case .challenge(let event):
            oweFinishAgain()
            guard let challenge = event.challenge, unanswered[challenge.id] == nil else {
                unacknowledged.append(event.id)
                return
            }
            try tell(challenge, event: event.id, try core.opened())
        case .groupFinished(let ending): unacknowledged.append(ending.id)
        case .activity(let event): unacknowledged.append(event.id)
        case .unknown(let id, _): unacknowledged.append(id)
        }
    }

    /// The program has got a completion handler.
    func oweFinish() { owesFinish = true }

    /// More has come while the program did not call its handler yet.
    private func oweFinishAgain() {
        if BackgroundApplication.shared.isOwing(core.identifier) { owesFinish = true }
    }

    private func flush(_ consumer: BlockingSession) throws(BackhaulError) {
        try consumer.acknowledge(unacknowledged)
        core.areAcknowledged(unacknowledgedTasks)
        (unacknowledged, unacknowledgedTasks) = ([], [])
    }

    func acknowledgeLater(_ event: EventID) { unacknowledged.append(event) }

    func performJobs() {
        for job in core.takeJobs() { job(self) }
    }

    /// Performs the message on the delegate's queue, and waits for its end.
    func onQueue(_ message: @escaping @Sendable () -> Void) {
        let isDone = Locked(false)
        // A queue whose operations the program cancels ends them without performing them.
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

    /// The program has nothing outstanding.
    func completeSoon() { isToBeCompleted = true }

    private func complete(_ consumer: BlockingSession) throws(BackhaulError) {
        // What the delegate has seen and left open is no reason to launch the program once more.
        unacknowledged += unanswered.values.compactMap { $0 } + finished
        finished = []
        unanswered = unanswered.mapValues { _ in nil }
        try flush(consumer)
        do throws(BackhaulError) {
            try consumer.complete()
        } catch {
            if error.status == .eventsOutstanding { return try drain(consumer) }
            throw error
        }
        isToBeCompleted = false
        BackgroundApplication.shared.isCompleted(core.identifier)
        // A handle that was attached for a launch has ended with this.
        _ = try consumer.poll(after: cursor, maximum: 1)
    }

    /// Of a session that was invalidated here: whether all tasks have ended and all is delivered.
    private func isFinished(_ consumer: BlockingSession) throws(BackhaulError) -> Bool {
        guard !core.hasUnresumedTasks, try core.isWithoutTasks() else { return false }
        // What has ended since the last look.
        try drain(consumer)
        unacknowledged += unanswered.values.compactMap { $0 } + finished
        (unanswered, finished) = ([:], [])
        try flush(consumer)
        try core.removeIfEmpty()
        return true
    }

    /// The engine's session is gone, by another host's doing: unless that is wanted here, too, its successor is opened.
    private func endOrRenew() {
        if isOver || core.isInvalidating { return end(nil) }
        consumer?.close()
        (consumer, cursor) = (nil, 0)
        (unacknowledged, unacknowledgedTasks, finished, unanswered, answers) = ([], [], [], [:], [])
        let (held, lost) = core.renew()
        let reason = urlError(BackhaulError(.invalidated, message: "The session was ended by another host."), nil)
        for task in lost { fail(task, reason) }
        core.handOverHeld(held)
    }

    func end(_ error: URLError?) {
        guard !isOver else { return }
        isOver = true
        consumer?.close()
        let (jobs, tasks) = core.end()
        for job in jobs { job(self) }
        // With an error none of them will be told of here again; else those that the engine has go on, for the next
        // session of this identifier.
        for task in tasks where task.state != .completed && (error != nil || task.engineTaskIdentifier == nil) {
            fail(task, error ?? urlError(BackhaulError(.invalidated, message: "The session has ended."), nil))
        }
        onQueue { [session, delegate] in delegate.urlSession(session, didBecomeInvalidWithError: error) }
        isToBeCompleted = false
        BackgroundApplication.shared.isCompleted(core.identifier)
    }
}
