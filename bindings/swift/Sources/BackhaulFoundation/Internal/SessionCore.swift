internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// What all session objects of one identifier share: the engine's session, the tasks, and who is told.
final class SessionCore: @unchecked Sendable {
    // Unchecked: what changes is behind locks; the configuration is never changed after the initializer.

    private struct Inner {
        var session: BackgroundURLSession?
        var delegate: (any BackgroundURLSessionDelegate)?
        /// Told of tasks that are resumed after the end, for as long as the program keeps it.
        weak var formerDelegate: (any BackgroundURLSessionDelegate)?
        var queue: OperationQueue
        var label: String?
        /// There is a thread that delivers.
        var hasBegun = false
        var tasks: [Int: BackgroundURLSessionTask] = [:]
        /// The identifiers of the tasks that the engine has.
        var identifiers: [TaskID: Int] = [:]
        var jobs: [Delivery.Job] = []
        /// Listings under way. No event is delivered meanwhile: who lists tasks will know those that it is told of.
        var listings = 0
        /// Tasks that are being delivered and not acknowledged yet, and those that were acknowledged since a listing
        /// began: it may have read them before.
        var delivered: Set<TaskID> = []
        var acknowledged: [TaskID] = []
        /// Of the engine, with nobody to tell: their tasks have got their last message before.
        var silenced: Set<TaskID> = []
        /// By this process: the engine is not told, so that a later start of the program finds its files.
        var isInvalidating = false
        var isCancelling = false
        /// The engine's session was invalidated by another host: it goes when its events are delivered.
        var isEnding = false
        /// Resumed while the engine's session is ending; for its successor.
        var held: [BackgroundURLSessionTask] = []
        var finishedRound: UInt64 = 0
        var isOver = false

        mutating func forgetAcknowledged() {
            guard listings == 0 else { return }
            delivered.subtract(acknowledged)
            acknowledged = []
        }
    }

    /// The living ones of this process. Apple's rule: the first session of an identifier stays.
    private static let cores = Locked([String: SessionCore]())

    let identifier: String
    let wait: DescriptorWait?
    private let settings: BackgroundURLSessionConfiguration
    private let inner: Locked<Inner>
    /// Held while the session is being opened.
    private let opening = Locked<BlockingSession?>(nil)

    static func core(
        _ configuration: BackgroundURLSessionConfiguration, _ delegate: (any BackgroundURLSessionDelegate)?,
        _ queue: OperationQueue?
    ) -> SessionCore {
        let identifier = configuration.identifier ?? ""
        return cores.with { cores in
            if let core = cores[identifier] {
                core.adopt(delegate, queue)
                return core
            }
            let core = SessionCore(configuration, delegate, queue)
            cores[identifier] = core
            return core
        }
    }

    /// The living one that delivers.
    static func delivering(_ identifier: String) -> SessionCore? {
        cores.with { $0[identifier] }.flatMap { $0.delegate == nil ? nil : $0 }
    }

    private init(
        _ configuration: BackgroundURLSessionConfiguration, _ delegate: (any BackgroundURLSessionDelegate)?,
        _ queue: OperationQueue?
    ) {
        identifier = configuration.identifier ?? ""
        settings = SessionCore.copy(configuration)
        wait = try? DescriptorWait()
        inner = Locked(Inner(delegate: delegate, queue: queue ?? SessionCore.serialQueue()))
    }

    /// The first delegate stays, but none is no delegate.
    private func adopt(_ delegate: (any BackgroundURLSessionDelegate)?, _ queue: OperationQueue?) {
        guard let delegate else { return }
        inner.with { inner in
            guard inner.delegate == nil, !inner.isOver else { return }
            inner.delegate = delegate
            if let queue { inner.queue = queue }
        }
    }

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    private static func copy(_ configuration: BackgroundURLSessionConfiguration) -> BackgroundURLSessionConfiguration {
        configuration.copy() as? BackgroundURLSessionConfiguration ?? configuration
    }

    var configuration: BackgroundURLSessionConfiguration { SessionCore.copy(settings) }
    var delegate: (any BackgroundURLSessionDelegate)? { inner.with { $0.delegate } }
    var queue: OperationQueue { inner.with { $0.queue } }
    var isOver: Bool { inner.with { $0.isOver } }
    var isInvalidating: Bool { inner.with { $0.isInvalidating } }
    var isCancelling: Bool { inner.with { $0.isCancelling } }
    var isEnding: Bool { inner.with { $0.isEnding } }
    var finishedRound: UInt64 {
        get { inner.with { $0.finishedRound } }
        set { inner.with { $0.finishedRound = newValue } }
    }
    var label: String? {
        get { inner.with { $0.label } }
        set { inner.with { $0.label = newValue } }
    }

    /// Starts to deliver, for the first session object with a delegate.
    func begin(_ session: BackgroundURLSession) {
        let delegate = inner.with { inner -> (any BackgroundURLSessionDelegate)? in
            guard !inner.hasBegun, !inner.isOver, let delegate = inner.delegate else { return nil }
            inner.hasBegun = true
            inner.session = session
            return delegate
        }
        guard let delegate else { return }
        guard let wait else {
            let error = urlError(BackhaulError(.outOfResources, message: "No event descriptor can be made."), nil)
            _ = end()
            return queue.addOperation { delegate.urlSession(session, didBecomeInvalidWithError: error) }
        }
        Delivery.start(self, session, delegate, wait)
    }

    /// The engine's session for all but events, opened with the first use.
    func opened() throws(BackhaulError) -> BlockingSession {
        if isOver { throw BackhaulError(.invalidated, message: "The session is invalid; make a new one.") }
        let result: Result<BlockingSession, BackhaulError> = opening.with { opened in
            if let opened { return .success(opened) }
            do throws(BackhaulError) {
                let session = try createOrAttach(try BackgroundApplication.shared.opened())
                try bringUpToDate(session)
                // Transfers do not depend on being watched.
                try? session.watchProgress(milliseconds: 500)
                opened = session
                return .success(session)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func createOrAttach(_ application: BlockingApplication) throws(BackhaulError) -> BlockingSession {
        do throws(BackhaulError) {
            return try application.createSession(settings.remembered, role: .produce)
        } catch {
            guard error.status == .invalidated else { throw error }
            inner.with { $0.isEnding = true }
            return try application.attachSession(identifier, role: .produce)
        }
    }

    /// The program's configuration counts, also for a session that was made by an earlier version of it.
    private func bringUpToDate(_ session: BlockingSession) throws(BackhaulError) {
        let remembered = try session.configuration()
        var updated = remembered
        settings.change(&updated)
        if updated != remembered { try session.setConfiguration(updated) }
    }

    /// Has the delivering thread perform the job, between two messages. False: there is no such thread.
    @discardableResult
    func post(_ job: @escaping Delivery.Job) -> Bool {
        let isTaken = inner.with { inner in
            guard inner.hasBegun, !inner.isOver else { return false }
            inner.jobs.append(job)
            return true
        }
        if isTaken { wait?.wake() }
        return isTaken
    }

    func takeJobs() -> [Delivery.Job] {
        inner.with { inner in
            defer { inner.jobs = [] }
            return inner.jobs
        }
    }

    /// The engine hears of cancelled tasks only: were it told that the session is to go, a later start of a program
    /// that is killed now would find it closed.
    func invalidate(cancellingTasks: Bool) {
        if isOver { return }
        let unknown = inner.with { inner in
            inner.isInvalidating = true
            guard cancellingTasks else { return [BackgroundURLSessionTask]() }
            inner.isCancelling = true
            return inner.tasks.values.filter { $0.engineTaskIdentifier == nil }
        }
        for task in unknown { cancel(task) }
        // Where this fails the delivering thread does it again.
        if cancellingTasks { try? cancelTasks() }
        if delegate != nil {
            wait?.wake()
        } else {
            try? removeIfEmpty()
            _ = end()
        }
    }

    /// All but those that the program has cancelled before and has resume data of.
    func cancelTasks() throws(BackhaulError) {
        let session = try opened()
        let suspended = try session.tasks(.states([.suspended]))
        if suspended.contains(where: \.isParked) {
            for info in suspended where !info.isParked { try session.cancel(info.id) }
            try session.cancel(.states([.waiting, .running]))
        } else {
            try session.cancel(.all)
        }
        inner.with { $0.isCancelling = false }
    }

    /// Whether the engine's session has no tasks that live, but those that the program has resume data of.
    func isWithoutTasks() throws(BackhaulError) -> Bool {
        guard let count = try info()?.liveTasks, count > 0 else { return true }
        let suspended = try opened().tasks(.states([.suspended]))
        return suspended.count { $0.isParked } == Int(clamping: count)
    }

    /// Removes the engine's session, unless something is in it or another process waits for it.
    func removeIfEmpty() throws(BackhaulError) {
        guard let info = try info() else { return }
        guard info.liveTasks == 0, info.events == 0, info.waitingConsumers == 0 else { return }
        try opened().invalidate(cancellingTasks: false)
    }

    /// Nil when the engine has no such session.
    func info() throws(BackhaulError) -> SessionInfo? {
        try BackgroundApplication.shared.opened().sessions().first { $0.identifier == identifier }
    }

    /// The session is no more: its identifier is free for another.
    ///
    /// - Returns: what the delivering thread has still to do, and the tasks that got no last message.
    func end() -> (jobs: [Delivery.Job], tasks: [BackgroundURLSessionTask]) {
        SessionCore.cores.with { cores in
            if cores[identifier] === self { cores[identifier] = nil }
        }
        let rest = inner.with { inner in
            defer {
                inner.isOver = true
                inner.formerDelegate = inner.delegate
                inner.session = nil
                inner.delegate = nil
                inner.jobs = []
                inner.tasks = [:]
                inner.identifiers = [:]
                inner.held = []
            }
            return (inner.jobs, inner.tasks.values.filter { $0.state != .completed })
        }
        close()
        return rest
    }

    private func close() {
        let session = opening.with { opened in
            defer { opened = nil }
            return opened
        }
        session?.close()
    }

    /// The engine's session is gone, and its successor is to be opened.
    ///
    /// - Returns: the tasks that are for the successor, and those that went with the old one.
    func renew() -> (held: [BackgroundURLSessionTask], lost: [BackgroundURLSessionTask]) {
        close()
        return inner.with { inner in
            defer {
                inner.isEnding = false
                inner.held = []
            }
            return (inner.held, inner.tasks.values.filter { $0.engineTaskIdentifier != nil && $0.state != .completed })
        }
    }

    /// Of a session without a delivering thread: the next use opens the successor of the engine's session, which is
    /// gone. False: there is such a thread, and it does that.
    func reopen() -> Bool {
        guard inner.with({ !$0.hasBegun && !$0.isOver }) else { return false }
        close()
        return true
    }

    /// Keeps a task that is resumed while the engine's session is ending, or gone. False: nothing would come of it.
    func hold(_ task: BackgroundURLSessionTask) -> Bool {
        let isHeld = inner.with { inner in
            guard inner.hasBegun, !inner.isInvalidating, !inner.isOver else { return false }
            inner.isEnding = true
            inner.held.append(task)
            return true
        }
        if isHeld { wait?.wake() }
        return isHeld
    }

    /// The last message of a task whose session has ended before.
    func tellFormerDelegate(_ task: BackgroundURLSessionTask, _ error: any Error) {
        guard let delegate = inner.with({ $0.formerDelegate }) as? any BackgroundURLSessionTaskDelegate else { return }
        let session = BackgroundURLSession(of: self)
        queue.addOperation { delegate.urlSession(session, task: task, didCompleteWithError: error) }
    }

    // MARK: The tasks by their identifiers

    func makeDownload(_ request: URLRequest) -> BackgroundURLSessionDownloadTask {
        add(BackgroundURLSessionDownloadTask(self, nextTaskIdentifier(), request, TaskInner()))
    }

    func makeUpload(_ request: URLRequest, _ body: Body) -> BackgroundURLSessionUploadTask {
        var values = TaskInner()
        values.body = body
        return add(BackgroundURLSessionUploadTask(self, nextTaskIdentifier(), request, values))
    }

    func add<Made: BackgroundURLSessionTask>(_ task: Made) -> Made {
        inner.with { inner in
            if !inner.isInvalidating && !inner.isOver { inner.tasks[task.taskIdentifier] = task }
        }
        return task
    }

    /// Made here before the session was invalidated, and not ended.
    func isKnown(_ task: BackgroundURLSessionTask) -> Bool { inner.with { $0.tasks[task.taskIdentifier] === task } }

    var hasUnresumedTasks: Bool {
        inner.with { $0.tasks.values.contains { $0.engineTaskIdentifier == nil && $0.state != .completed } }
    }

    /// The task of this identifier; made when this process does not know it yet.
    func task(
        _ identifier: Int, id: TaskID, kind: TaskKind, url: String, _ fill: (inout TaskInner) -> Void
    ) -> BackgroundURLSessionTask {
        inner.with { inner in
            inner.identifiers[id] = identifier
            if let task = inner.tasks[identifier] { return task }
            var values = TaskInner()
            values.id = id
            fill(&values)
            let request = URL(string: url).map { URLRequest(url: $0) }
            let task: BackgroundURLSessionTask =
                switch kind {
                case .download: BackgroundURLSessionDownloadTask(self, identifier, request, values)
                case .upload: BackgroundURLSessionUploadTask(self, identifier, request, values)
                }
            inner.tasks[identifier] = task
            return task
        }
    }

    func task(id: TaskID) -> BackgroundURLSessionTask? {
        inner.with { inner in inner.identifiers[id].flatMap { inner.tasks[$0] } }
    }

    func know(_ task: BackgroundURLSessionTask, as id: TaskID) {
        inner.with { if $0.tasks[task.taskIdentifier] != nil { $0.identifiers[id] = task.taskIdentifier } }
    }

    func forget(_ task: BackgroundURLSessionTask) {
        let id = task.engineTaskIdentifier
        inner.with { inner in
            inner.tasks[task.taskIdentifier] = nil
            if let id { inner.identifiers[id] = nil }
        }
    }

    /// Has the tasks listed on a thread that may wait, and what is done with them before the next event is delivered.
    func list(
        _ use: @escaping @Sendable ([BackgroundURLSessionTask], _ isDone: @escaping @Sendable () -> Void) -> Void
    ) {
        inner.with { $0.listings += 1 }
        DispatchQueue.global().async { [self] in use(allTasks()) { self.endListing() } }
    }

    private func endListing() {
        inner.with { inner in
            inner.listings -= 1
            inner.forgetAcknowledged()
        }
        wait?.wake()
    }

    var isListing: Bool { inner.with { $0.listings > 0 } }

    /// Called before the delegate is told of the task's end: from now on it is not listed any more.
    func isBeingDelivered(_ id: TaskID) { inner.with { _ = $0.delivered.insert(id) } }

    func silence(_ id: TaskID) { inner.with { _ = $0.silenced.insert(id) } }
    func isSilenced(_ id: TaskID) -> Bool { inner.with { $0.silenced.remove(id) != nil } }

    func areAcknowledged(_ ids: [TaskID]) {
        inner.with { inner in
            inner.acknowledged += ids
            inner.forgetAcknowledged()
        }
    }

    /// Those whose last message did not come yet, also when they have ended; none when the engine does not answer.
    private func allTasks() -> [BackgroundURLSessionTask] {
        let infos = (try? opened().tasks(.all)) ?? []
        let delivered = inner.with { $0.delivered }
        let known = infos.filter { !delivered.contains($0.id) && !$0.isParked }.map { info in
            task(taskIdentifier(key: info.idempotencyKey, id: info.id), id: info.id, kind: info.kind, url: info.url) {
                $0.fill(info)
            }
        }
        let new = inner.with { $0.tasks.values.filter { $0.engineTaskIdentifier == nil && $0.state == .suspended } }
        return (known.filter { $0.state != .completed } + new).sorted { $0.taskIdentifier < $1.taskIdentifier }
    }
}

extension TaskInner {
    mutating func fill(_ info: TaskInfo) {
        // One that has ended is under way to its delegate.
        state = info.state == .suspended ? .suspended : info.state == .cancelled ? .canceling : .running
        suspensions = info.state == .suspended ? 1 : 0
        label = BackhaulFoundation.label(info.userData)
        priority = Float(info.priority) / 200 + 0.5
        received = Int64(clamping: info.offset)
        expected = info.size.map { Int64(clamping: $0) } ?? BackgroundURLSessionTransferSizeUnknown
        sent = Int64(clamping: info.bodySent)
        expectedToSend = Int64(clamping: info.bodySize)
        earliestBegin = info.earliestStartMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        guessToSend = info.expectedBytesSent.map { Int64(clamping: $0) } ?? BackgroundURLSessionTransferSizeUnknown
        guessToReceive =
            info.expectedBytesReceived.map { Int64(clamping: $0) } ?? BackgroundURLSessionTransferSizeUnknown
    }
}
