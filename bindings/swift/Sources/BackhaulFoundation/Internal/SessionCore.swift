internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The state that all session objects with the same identifier share: the engine's session, the tasks and the delegate.
/// The *engine*, usually a separate process, stores its own session with the same identifier, and performs the
/// transfers. An *event* is a message that the engine stores, for example that a task has ended.
final class SessionCore: @unchecked Sendable {
    // Unchecked: all state that changes is protected by mutexes. The configuration does not change after the
    // initializer.

    private struct Inner {
        var session: BackgroundURLSession?
        var delegate: (any BackgroundURLSessionDelegate)?
        /// The delegate of a session that has ended. If a task is resumed after the session's end, this delegate gets
        /// the last call for the task, if the delegate still exists.
        weak var formerDelegate: (any BackgroundURLSessionDelegate)?
        var queue: OperationQueue
        var label: String?
        /// Whether the session has a delivering thread (`Delivery`).
        var hasBegun = false
        var tasks: [Int: BackgroundURLSessionTask] = [:]
        /// The identifiers of the tasks that the engine has. The keys are the engine's numbers of the tasks.
        var identifiers: [TaskID: Int] = [:]
        var jobs: [Delivery.Job] = []
        /// The number of listings in progress. During a listing no event is delivered, because the program must know
        /// each task before the delegate is called for the task.
        var listings = 0
        /// The tasks whose end is delivered, but not acknowledged yet. While a listing is in progress, acknowledged
        /// tasks also stay in the set, because the listing may have read them before they were acknowledged.
        var delivered: Set<TaskID> = []
        var acknowledged: [TaskID] = []
        /// The engine's tasks whose end causes no delegate call, because the last delegate call was already made.
        var silenced: Set<TaskID> = []
        /// Whether this process has invalidated the session. The engine's session remains, so a later run of the
        /// program gets the files.
        var isInvalidating = false
        var isCancelling = false
        /// Whether the program has called `invalidateAndCancel`.
        var isCancelled = false
        /// Whether another program has invalidated the engine's session. The engine removes such a session when all its
        /// events are acknowledged.
        var isEnding = false
        /// The tasks that were resumed while the engine's session was ending. They are enqueued (stored) in a new
        /// session of the engine.
        var pending: [BackgroundURLSessionTask] = []
        /// How often the handle of the engine's session was closed, because the session was removed.
        var renewals = 0
        var finishedRound: UInt64 = 0
        var isOver = false
        /// The error that ended the session. Nil if the program has ended the session.
        var cause: BackhaulError?

        mutating func forgetAcknowledged() {
            guard listings == 0 else { return }
            delivered.subtract(acknowledged)
            acknowledged = []
        }
    }

    /// The sessions of this process that have not ended, by identifier. As on Apple's systems, a second session with
    /// the same identifier does not replace the first one.
    private static let cores = Locked([String: SessionCore]())

    let identifier: String
    let wait: DescriptorWait?
    let gate = DeliveryGate()
    private let settings: BackgroundURLSessionConfiguration
    private let inner: Locked<Inner>
    /// The engine's open session. Nil before its first use. The mutex is locked while the session is being opened.
    private let opening = Locked<BlockingSession?>(nil)

    static func core(
        _ configuration: BackgroundURLSessionConfiguration, _ delegate: (any BackgroundURLSessionDelegate)?,
        _ queue: OperationQueue?
    ) -> SessionCore {
        let identifier = configuration.identifier ?? ""
        return cores.with { cores in
            if let core = cores[identifier] {
                let warning =
                    "A background URLSession with identifier \(identifier) already exists! "
                    + "Both objects share the delegate and the queue of the first object.\n"
                FileHandle.standardError.write(Data(warning.utf8))
                core.adopt(delegate, queue)
                return core
            }
            let core = SessionCore(configuration, delegate, queue)
            cores[identifier] = core
            return core
        }
    }

    /// Returns the session with this identifier, if it has a delegate and has not ended.
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

    /// Adopts the delegate and the queue of a later session object. If the session already has a delegate, this method
    /// does nothing.
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
    var isCancelled: Bool { inner.with { $0.isCancelled } }
    var isEnding: Bool { inner.with { $0.isEnding } }
    var renewals: Int { inner.with { $0.renewals } }
    var finishedRound: UInt64 {
        get { inner.with { $0.finishedRound } }
        set { inner.with { $0.finishedRound = newValue } }
    }
    var label: String? {
        get { inner.with { $0.label } }
        set { inner.with { $0.label = newValue } }
    }

    /// Starts the delivering thread. The first session object with a delegate does this.
    func begin(_ session: BackgroundURLSession) {
        let delegate = inner.with { inner -> (any BackgroundURLSessionDelegate)? in
            guard !inner.hasBegun, !inner.isOver, let delegate = inner.delegate else { return nil }
            inner.hasBegun = true
            inner.session = session
            return delegate
        }
        guard let delegate else { return }
        guard let wait else {
            let cause = BackhaulError(.outOfResources, message: "No event descriptor can be made.")
            _ = end(cause)
            return queue.addOperation {
                delegate.urlSession(session, didBecomeInvalidWithError: urlError(cause, nil))
            }
        }
        Delivery.start(self, session, delegate, wait)
    }

    /// Returns the handle of the engine's session for all commands except those about events. The first call opens the
    /// handle.
    func opened() throws(BackhaulError) -> BlockingSession {
        if isOver { throw endError }
        let result: Result<BlockingSession, BackhaulError> = opening.with { opened in
            if let opened { return .success(opened) }
            do throws(BackhaulError) {
                let session = try createOrAttach(try BackgroundApplication.shared.opened())
                try bringUpToDate(session)
                // An error is ignored, because transfers do not need progress readings.
                try? session.run(.watchProgress(milliseconds: 500))
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

    /// Applies the program's configuration to a session that an earlier run of the program has made. In that run, an
    /// older version of the program may have set another configuration.
    private func bringUpToDate(_ session: BlockingSession) throws(BackhaulError) {
        let remembered = try session.configuration()
        var updated = remembered
        settings.change(&updated)
        if updated != remembered { try session.run(.setConfiguration(updated)) }
    }

    /// Queues a job for the delivering thread, which performs the job between two delegate calls. Returns false if the
    /// session has no delivering thread.
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

    /// Invalidates the session in this process, and cancels its tasks if `cancellingTasks` is true. The engine's
    /// session stays valid, so that a later run can use this session if the program is killed now.
    func invalidate(cancellingTasks: Bool) {
        if isOver { return }
        let unknown = inner.with { inner in
            inner.isInvalidating = true
            guard cancellingTasks else { return [BackgroundURLSessionTask]() }
            (inner.isCancelling, inner.isCancelled) = (true, true)
            return inner.tasks.values.filter { $0.engineTaskIdentifier == nil }
        }
        for task in unknown { cancel(task) }
        // If the cancellation fails, the delivering thread repeats it.
        if cancellingTasks { try? cancelTasks() }
        if delegate != nil {
            wait?.wake()
        } else {
            try? removeIfEmpty()
            _ = end()
        }
    }

    /// Cancels all tasks of the engine's session, except tasks that the program has already cancelled with resume data.
    /// The engine keeps these tasks, so that the program can continue them later.
    func cancelTasks() throws(BackhaulError) {
        let session = try opened()
        let live = try session.tasks(.states([.waiting, .running, .suspended]))
        if live.contains(where: \.isKeptTask) {
            let ids = live.filter { !$0.isKeptTask }.map(\.id)
            // A selection has at most 100,000 ids.
            for start in stride(from: 0, to: ids.count, by: 100_000) {
                try session.run(.cancel(.ids(Array(ids[start...].prefix(100_000)))))
            }
        } else {
            try session.run(.cancel(.all))
        }
        inner.with { $0.isCancelling = false }
    }

    /// Removes the engine's session, if it has no tasks and no events, and if no other process waits for it.
    func removeIfEmpty() throws(BackhaulError) {
        guard let info = try info(), info.liveTasks == 0, info.events == 0, info.waitingConsumers == 0 else { return }
        try opened().run(.invalidate(cancellingTasks: false))
    }

    /// Reads the state of the engine's session. Nil if the session does not exist.
    func info() throws(BackhaulError) -> SessionInfo? {
        try BackgroundApplication.shared.opened().run(.sessions).first { $0.identifier == identifier }
    }

    /// The error of a task that is resumed in an invalid session. If the session could not be opened, the error says
    /// why.
    var endError: BackhaulError {
        inner.with { $0.cause } ?? BackhaulError(.invalidated, message: "The session is invalid; make a new one.")
    }

    /// Ends the session. Its identifier can then be used for another session.
    ///
    /// - Parameter cause: The error that ends the session. Nil if the program ends the session.
    /// - Returns: The jobs that the delivering thread has not performed, and the tasks that got no last delegate call.
    func end(_ cause: BackhaulError? = nil) -> (jobs: [Delivery.Job], tasks: [BackgroundURLSessionTask]) {
        SessionCore.cores.with { cores in
            if cores[identifier] === self { cores[identifier] = nil }
        }
        let rest = inner.with { inner in
            defer {
                inner.isOver = true
                inner.cause = cause
                inner.formerDelegate = inner.delegate
                inner.session = nil
                inner.delegate = nil
                inner.jobs = []
                inner.tasks = [:]
                inner.identifiers = [:]
                inner.pending = []
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

    /// Closes the handle of the engine's session, because the session was removed. The next use opens a new session.
    ///
    /// - Returns: The tasks to enqueue in the new session, and the tasks that were lost with the old session.
    func renew() -> (pending: [BackgroundURLSessionTask], lost: [BackgroundURLSessionTask]) {
        close()
        return inner.with { inner in
            defer {
                inner.isEnding = false
                inner.pending = []
                inner.renewals += 1
            }
            let lost = inner.tasks.values.filter { $0.engineTaskIdentifier != nil && $0.state != .completed }
            return (inner.pending, lost)
        }
    }

    /// Closes the handle of the engine's session, because the session was removed. The next use opens a new session.
    /// Returns false if the delivering thread closes the handle itself, or if the session has ended.
    func reopen() -> Bool {
        guard inner.with({ !$0.hasBegun && !$0.isOver }) else { return false }
        close()
        return true
    }

    /// Stores a task that was resumed while the engine's session was ending, or after it was removed. The task is
    /// enqueued in a new session of the engine. `renewals`: the number of renewals before the task was to be enqueued.
    func addPending(_ task: BackgroundURLSessionTask, since renewals: Int) -> PendingResult {
        let result = inner.with { inner -> PendingResult in
            guard inner.hasBegun, !inner.isInvalidating, !inner.isOver else { return .refused }
            guard inner.renewals == renewals else { return .renewed }
            inner.isEnding = true
            inner.pending.append(task)
            return .added
        }
        if result == .added { wait?.wake() }
        return result
    }

    /// Makes the last delegate call for a task whose session has already ended.
    func callFormerDelegate(_ task: BackgroundURLSessionTask, _ error: any Error) {
        guard let delegate = inner.with({ $0.formerDelegate }) as? any BackgroundURLSessionTaskDelegate else { return }
        let session = BackgroundURLSession(of: self)
        queue.addOperation { delegate.urlSession(session, task: task, didCompleteWithError: error) }
    }

    // MARK: The tasks by their identifiers

    func makeDownload(_ request: URLRequest) -> BackgroundURLSessionDownloadTask {
        add(BackgroundURLSessionDownloadTask(self, nextTaskIdentifier(), request, TaskInner()))
    }

    func makeUpload(_ request: URLRequest, _ body: Body, unusable: URLError? = nil) -> BackgroundURLSessionUploadTask {
        var values = TaskInner()
        values.unusable = unusable
        values.body = body
        return add(BackgroundURLSessionUploadTask(self, nextTaskIdentifier(), request, values))
    }

    func add<Made: BackgroundURLSessionTask>(_ task: Made) -> Made {
        inner.with { inner in
            if !inner.isInvalidating && !inner.isOver { inner.tasks[task.taskIdentifier] = task }
        }
        return task
    }

    /// Whether the task was made in this process before the session was invalidated, and has not ended.
    func isKnown(_ task: BackgroundURLSessionTask) -> Bool { inner.with { $0.tasks[task.taskIdentifier] === task } }

    var hasUnresumedTasks: Bool {
        inner.with { $0.tasks.values.contains { $0.engineTaskIdentifier == nil && $0.state != .completed } }
    }

    /// Returns the task with this identifier. If this process does not have the task yet, makes it and calls `fill`.
    func task(
        _ identifier: Int, id: TaskID, kind: TaskKind, url: String, _ fill: (inout TaskInner) -> Void
    ) -> BackgroundURLSessionTask {
        inner.with { inner in
            inner.identifiers[id] = identifier
            if let task = inner.tasks[identifier] { return task }
            var values = TaskInner()
            values.id = id
            values.isFromEarlierRun = true
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

    /// Returns the tasks with this information, except kept tasks and tasks whose end was delivered.
    func tasks(_ infos: [TaskInfo]) -> [BackgroundURLSessionTask] {
        let delivered = inner.with { $0.delivered }
        return infos.filter { !delivered.contains($0.id) && !$0.isKeptTask }.map { info in
            task(taskIdentifier(key: info.idempotencyKey, id: info.id), id: info.id, kind: info.kind, url: info.url) {
                $0.fill(info)
            }
        }
    }

    /// Returns the task with this identifier, if this process has it.
    func task(_ identifier: Int) -> BackgroundURLSessionTask? { inner.with { $0.tasks[identifier] } }

    func know(_ task: BackgroundURLSessionTask, as id: TaskID) {
        inner.with { if $0.tasks[task.taskIdentifier] != nil { $0.identifiers[id] = task.taskIdentifier } }
    }

    func forget(_ task: BackgroundURLSessionTask) {
        let id = task.engineTaskIdentifier
        inner.with { inner in
            // A task that was made from the resume data of this task has the same identifier.
            guard inner.tasks[task.taskIdentifier] === task else { return }
            inner.tasks[task.taskIdentifier] = nil
            if let id { inner.identifiers[id] = nil }
        }
    }

    /// Lists the tasks on a thread that may block, and passes them to `use`. Until `use` calls `isDone`, no event is
    /// delivered.
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

    /// Permits the delegate calls for tasks of earlier runs, because the program has got its first list of tasks.
    func openGate() {
        gate.open()
        wait?.wake()
    }

    /// Whether this process has made the task with this identifier.
    func isOwn(_ taskIdentifier: Int) -> Bool {
        task(taskIdentifier).map { !$0.inner.with(\.isFromEarlierRun) } ?? false
    }

    /// Whether the delegate calls for the task with this identifier wait until the program can know the task.
    func delaysCalls(for taskIdentifier: Int) -> Bool {
        if isInvalidating || isOwn(taskIdentifier) { return false }
        if BackgroundApplication.shared.isCalled(for: identifier) {
            return !BackgroundApplication.shared.isOwing(identifier)
        }
        return gate.isClosed
    }

    var isListing: Bool { inner.with { $0.listings > 0 } }

    /// Records that the delegate calls for the end of the task begin. From now on, the task is no longer listed.
    func isBeingDelivered(_ id: TaskID) { inner.with { _ = $0.delivered.insert(id) } }

    func silence(_ id: TaskID) { inner.with { _ = $0.silenced.insert(id) } }
    func isSilenced(_ id: TaskID) -> Bool { inner.with { $0.silenced.remove(id) != nil } }

    func areAcknowledged(_ ids: [TaskID]) {
        inner.with { inner in
            inner.acknowledged += ids
            inner.forgetAcknowledged()
        }
    }

    /// All tasks whose last delegate call was not made yet, including tasks that have already ended. If the engine does
    /// not reply, the list has only tasks that were not resumed yet.
    private func allTasks() -> [BackgroundURLSessionTask] {
        // As on Apple's systems, no task is listed after `invalidateAndCancel`.
        if isCancelled { return [] }
        let known = tasks((try? opened().tasks(.all)) ?? [])
        let new = inner.with { $0.tasks.values.filter { $0.engineTaskIdentifier == nil && $0.state == .suspended } }
        return (known.filter { $0.state != .completed } + new).sorted { $0.taskIdentifier < $1.taskIdentifier }
    }
}
