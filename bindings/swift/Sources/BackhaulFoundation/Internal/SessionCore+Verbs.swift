internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The commands about a task: resume, suspend and cancel. The *engine*, usually a separate process, performs them. The
/// commands about one task are performed one after the other, in the order of the calls.
extension SessionCore {
    func resume(_ task: BackgroundURLSessionTask) {
        task.verbs.lock()
        defer { task.verbs.unlock() }
        let runs = task.inner.with { inner in
            guard inner.state == .suspended else { return false }
            inner.suspensions = max(0, inner.suspensions - 1)
            guard inner.suspensions == 0 else { return false }
            inner.state = .running
            return true
        }
        guard runs else { return }
        guard let id = task.engineTaskIdentifier else { return enqueueTask(task) }
        resumeStored(task, id)
    }

    /// Resumes a task that the engine has.
    private func resumeStored(_ task: BackgroundURLSessionTask, _ id: TaskID) {
        let isResumed = attempt { () throws(BackhaulError) -> Void in
            try removeMark(of: task)
            try opened().run(.resume(.ids(id)))
        }
        if !isResumed { restoreState(task, .running, .suspended) }
    }

    /// Restores a task's state after a failed command, so that the program may repeat the call. If the session has
    /// ended, the task fails, because a repeated call could not succeed.
    private func restoreState(
        _ task: BackgroundURLSessionTask, _ state: BackgroundURLSessionTask.State,
        _ before: BackgroundURLSessionTask.State
    ) {
        if isOver { return fail(task, urlError(endError, task.originalRequest?.url)) }
        task.inner.with { inner in
            guard inner.state == state else { return }
            inner.state = before
            if state == .running { inner.suspensions = 1 }
            if before == .running { inner.suspensions = 0 }
        }
    }

    enum PendingResult {
        case added
        /// The delivering thread has taken the pending tasks, and the next use opens a new session.
        case renewed
        /// This process will not open another session.
        case refused
    }

    private func enqueueTask(_ task: BackgroundURLSessionTask) {
        let renewals = renewals
        do {
            guard isKnown(task) else { throw endError }
            try SessionCore.refuseUnusable(task)
            if let keptTask = task.inner.with({ $0.keptTask }) {
                try takeKept(task, keptTask)
                return resumeStored(task, keptTask)
            }
            let request = try engineRequest(
                task.originalRequest, task.taskIdentifier, task.inner.with { $0 }, configuration)
            let id = try enqueue(request)
            task.inner.with { $0.id = id }
            know(task, as: id)
            // Another thread may have invalidated the session since the task was resumed.
            if isCancelled { try opened().run(.cancel(.ids(id))) }
        } catch let error as BackhaulError {
            // If another program has invalidated the engine's session, the task waits until this session has ended.
            // Then it is enqueued (stored) in a new session of the engine.
            if [.invalidated, .notFound, .invalidHandle].contains(error.status) {
                switch addPending(task, since: renewals) {
                case .added: return
                case .renewed: return enqueueTask(task)
                case .refused: break
                }
            }
            fail(task, urlError(error, task.originalRequest?.url))
        } catch {
            fail(task, error)
        }
    }

    /// Enqueues the tasks that were resumed while the engine's session was ending. The session was ending because
    /// another program had invalidated it.
    func enqueuePending(_ tasks: [BackgroundURLSessionTask]) {
        for task in tasks {
            task.verbs.lock()
            defer { task.verbs.unlock() }
            if task.state == .running && task.engineTaskIdentifier == nil { enqueueTask(task) }
        }
    }

    /// Enqueues the request. After a time-out, enqueues the request again. The idempotency key prevents a second task.
    /// If another program has removed the session, enqueues the request in a new session.
    private func enqueue(_ request: Request) throws(BackhaulError) -> TaskID {
        do throws(BackhaulError) {
            return try opened().enqueue(request)
        } catch {
            let isGone = error.status == .notFound || error.status == .invalidated
            guard error.status == .timeout || isGone && reopen() else { throw error }
            return try opened().enqueue(request)
        }
    }

    func suspend(_ task: BackgroundURLSessionTask) {
        task.verbs.lock()
        defer { task.verbs.unlock() }
        let stops = task.inner.with { inner in
            guard inner.state == .running || inner.state == .suspended, inner.suspensions < Int.max else {
                return false
            }
            inner.suspensions += 1
            guard inner.suspensions == 1 else { return false }
            inner.state = .suspended
            return true
        }
        guard stops, let id = task.engineTaskIdentifier else { return }
        if !attempt({ () throws(BackhaulError) in try opened().run(.suspend(.ids(id))) }) {
            restoreState(task, .suspended, .running)
        }
    }

    func cancel(_ task: BackgroundURLSessionTask) {
        task.verbs.lock()
        defer { task.verbs.unlock() }
        cancelLocked(task)
    }

    /// Cancels the task. The caller has locked the mutex `verbs` of the task.
    func cancelLocked(_ task: BackgroundURLSessionTask) {
        let before = task.inner.with { inner -> BackgroundURLSessionTask.State? in
            guard inner.state == .running || inner.state == .suspended else { return nil }
            defer { inner.state = .canceling }
            return inner.state
        }
        guard let before else { return }
        guard let id = task.engineTaskIdentifier else {
            // If the task was made from resume data, the engine has a kept task, which must also be cancelled.
            if let keptTask = task.inner.with({ $0.keptTask }), (try? keptInfo(keptTask, of: task)) != nil {
                silence(keptTask)
                _ = try? opened().run(.cancel(.ids(keptTask)))
            }
            fail(task, urlError(BackhaulError(.cancelled, message: "cancelled"), task.originalRequest?.url))
            return
        }
        // The last delegate call is made when the event about the end of the task arrives.
        if !attempt({ () throws(BackhaulError) in try opened().run(.cancel(.ids(id))) }) {
            restoreState(task, .canceling, before)
        }
    }

    /// If the engine has the task, performs a command for a changed property of the task.
    func performVerb(
        of task: BackgroundURLSessionTask,
        _ verb: (BlockingSession, TaskID, TaskInner) throws(BackhaulError) -> Void
    ) {
        task.verbs.lock()
        defer { task.verbs.unlock() }
        let inner = task.inner.with { $0 }
        guard let id = inner.id, inner.state != .completed else { return }
        attempt { () throws(BackhaulError) in try verb(try opened(), id, inner) }
    }

    /// Performs a command, and returns whether it succeeded. The error is dropped, because Apple's methods do not
    /// throw. The program may repeat the call.
    @discardableResult
    private func attempt<Ignored>(_ body: () throws(BackhaulError) -> Ignored) -> Bool {
        do throws(BackhaulError) {
            _ = try body()
            return true
        } catch {
            return false
        }
    }

    /// Ends a task that the engine does not have, and makes its last delegate call.
    func fail(_ task: BackgroundURLSessionTask, _ error: any Error) {
        // With this state, the task cannot end a second time before the delegate call.
        task.inner.with { $0.state = .canceling }
        if post({ $0.fail(task, error) }) { return }
        task.inner.with { inner in
            inner.state = .completed
            inner.error = error
        }
        forget(task)
        callFormerDelegate(task, error)
    }
}
