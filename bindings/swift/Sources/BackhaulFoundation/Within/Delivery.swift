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
    /// Events of rounds that are acknowledged when the delegate knows that all is delivered.
    private var finished: [EventID] = []
    /// At first, so that the program learns when it has caught up.
    private var owesFinish = true
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
                case .completed, .invalidated, .notFound: end(nil)
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
        try giveAnswers()
        try drain(consumer)
        tellProgress(try opened.pollProgress())
        if isToBeCompleted { return try complete(consumer) }
        if core.isInvalidating, try isGone() { return end(nil) }
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
                try deliver(event, consumer)
                cursor = event.id
            }
            performJobs()
            if !more { break }
        }
        guard thenFinish, owesFinish, !isOver else { return }
        owesFinish = false
        onQueue { [session, delegate] in delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session) }
        unacknowledged += finished
        finished = []
        try flush(consumer)
    }

    private func deliver(_ event: Event, _ consumer: BlockingSession) throws(BackhaulError) {
        switch event {
        case .taskEnded(let ending):
            tell(ending)
            unacknowledged.append(ending.id)
            try flush(consumer)
        case .sessionFinished(let ending):
            finished.append(ending.id)
            core.finishedRound = ending.round
            owesFinish = true
        case .challenge(let event):
            owesFinish = true
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

    private func flush(_ consumer: BlockingSession) throws(BackhaulError) {
        try consumer.acknowledge(unacknowledged)
        unacknowledged = []
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
        unacknowledged += unanswered.values.compactMap { $0 }
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

    private func isGone() throws(BackhaulError) -> Bool {
        let sessions = try BackgroundApplication.shared.opened().sessions()
        return !sessions.contains { $0.identifier == core.identifier }
    }

    func end(_ error: URLError?) {
        guard !isOver else { return }
        isOver = true
        performJobs()
        consumer?.close()
        core.end()
        onQueue { [session, delegate] in delegate.urlSession(session, didBecomeInvalidWithError: error) }
        isToBeCompleted = false
        BackgroundApplication.shared.isCompleted(core.identifier)
    }
}
