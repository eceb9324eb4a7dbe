internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// What all session objects of one identifier share: the engine's session, the tasks, and who is told.
final class SessionCore: @unchecked Sendable {
    // Unchecked: what changes is behind locks; the configuration is never changed after the initializer.

    private struct Inner {
        var session: BackgroundURLSession?
        var delegate: (any BackgroundURLSessionDelegate)?
        var label: String?
        var hasBegun = false
        var tasks: [Int: BackgroundURLSessionTask] = [:]
        /// The identifiers of the tasks that the engine has.
        var identifiers: [TaskID: Int] = [:]
        var jobs: [Delivery.Job] = []
        var isInvalidating = false
        var finishedRound: UInt64 = 0
        var isOver = false
    }

    /// The living ones of this process. Apple's rule: the first session of an identifier stays.
    private static let cores = Locked([String: SessionCore]())

    let identifier: String
    let queue: OperationQueue
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
            if let core = cores[identifier] { return core }
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
        self.queue = queue ?? SessionCore.serialQueue()
        wait = try? DescriptorWait()
        var inner = Inner()
        inner.delegate = delegate
        self.inner = Locked(inner)
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
    var isOver: Bool { inner.with { $0.isOver } }
    var isInvalidating: Bool { inner.with { $0.isInvalidating } }
    var finishedRound: UInt64 {
        get { inner.with { $0.finishedRound } }
        set { inner.with { $0.finishedRound = newValue } }
    }
    var label: String? {
        get { inner.with { $0.label } }
        set { inner.with { $0.label = newValue } }
    }

    /// Starts to deliver, for the first session object.
    func begin(_ session: BackgroundURLSession) {
        let delegate = inner.with { inner -> (any BackgroundURLSessionDelegate)? in
            if inner.hasBegun { return nil }
            inner.hasBegun = true
            inner.session = session
            return inner.delegate
        }
        guard let delegate, let wait else { return }
        Delivery.start(self, session, delegate, wait)
    }

    /// The engine's session for all but events, opened with the first use.
    func opened() throws(BackhaulError) -> BlockingSession {
        if isOver { throw BackhaulError(.invalidated, message: "The session is invalid; make a new one.") }
        let result: Result<BlockingSession, BackhaulError> = opening.with { opened in
            if let opened { return .success(opened) }
            do throws(BackhaulError) {
                let application = try BackgroundApplication.shared.opened()
                let session = try application.createSession(settings.remembered, role: .produce)
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

    /// The program's configuration counts, also for a session that was made by an earlier version of it.
    private func bringUpToDate(_ session: BlockingSession) throws(BackhaulError) {
        let remembered = try session.configuration()
        var updated = remembered
        settings.change(&updated)
        if updated != remembered { try session.update(updated) }
    }

    /// Has the delivering thread perform the job, between two messages. Without one it is dropped.
    func post(_ job: @escaping Delivery.Job) {
        inner.with { $0.jobs.append(job) }
        wait?.wake()
    }

    func takeJobs() -> [Delivery.Job] {
        inner.with { inner in
            defer { inner.jobs = [] }
            return inner.jobs
        }
    }

    func invalidate(cancellingTasks: Bool) {
        let isFirst = inner.with { inner in
            defer { inner.isInvalidating = true }
            return !inner.isInvalidating
        }
        guard isFirst || cancellingTasks else { return }
        for task in inner.with({ Array($0.tasks.values) }) where cancellingTasks && task.engineTaskIdentifier == nil {
            cancel(task)
        }
        do throws(BackhaulError) {
            try opened().invalidate(cancellingTasks: cancellingTasks)
        } catch {
            let reason = urlError(error, nil)
            post { $0.end(reason) }
        }
        if delegate == nil { end() } else { wait?.wake() }
    }

    /// The session is no more: its identifier is free for another.
    func end() {
        SessionCore.cores.with { cores in
            if cores[identifier] === self { cores[identifier] = nil }
        }
        let session = opening.with { opened in
            defer { opened = nil }
            return opened
        }
        session?.close()
        inner.with { inner in
            inner.isOver = true
            inner.session = nil
            inner.delegate = nil
            inner.tasks = [:]
            inner.identifiers = [:]
        }
    }

    // MARK: The tasks by their identifiers

    func makeDownload(_ request: URLRequest) -> BackgroundURLSessionDownloadTask {
        let task = BackgroundURLSessionDownloadTask(self, nextTaskIdentifier(), request, TaskInner())
        inner.with { $0.tasks[task.taskIdentifier] = task }
        return task
    }

    func makeUpload(_ request: URLRequest, _ body: Body) -> BackgroundURLSessionUploadTask {
        var values = TaskInner()
        values.body = body
        let task = BackgroundURLSessionUploadTask(self, nextTaskIdentifier(), request, values)
        inner.with { $0.tasks[task.taskIdentifier] = task }
        return task
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

    /// Those that have not ended; none when the engine does not answer.
    func allTasks() -> [BackgroundURLSessionTask] {
        let infos = (try? opened().tasks(.states([.waiting, .running, .suspended]))) ?? []
        let known = infos.map { info in
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
        state = info.state == .suspended ? .suspended : .running
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
