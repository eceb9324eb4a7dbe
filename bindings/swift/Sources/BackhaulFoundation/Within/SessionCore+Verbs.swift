internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// What is done to a task: one thing after the other, in the order of the calls.
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
        if let id = task.engineTaskIdentifier {
            attempt { () throws(BackhaulError) in try opened().resume(id) }
        } else {
            handOver(task)
        }
    }

    private func handOver(_ task: BackgroundURLSessionTask) {
        do {
            if isInvalidating || isOver {
                throw BackhaulError(.invalidated, message: "The session is invalid.")
            }
            let request = try engineRequest(
                task.originalRequest, task.taskIdentifier, task.inner.with { $0 }, configuration)
            let id = try enqueue(request)
            task.inner.with { $0.id = id }
            know(task, as: id)
        } catch let error as BackhaulError {
            fail(task, urlError(error, task.originalRequest?.url))
        } catch {
            fail(task, error)
        }
    }

    /// Once more after a time-out: the key makes it harmless.
    private func enqueue(_ request: Request) throws(BackhaulError) -> TaskID {
        do throws(BackhaulError) {
            return try opened().enqueue(request)
        } catch {
            guard error.status == .timeout else { throw error }
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
        attempt { () throws(BackhaulError) in try opened().suspend(id) }
    }

    func cancel(_ task: BackgroundURLSessionTask) {
        task.verbs.lock()
        defer { task.verbs.unlock() }
        let before = task.inner.with { inner -> BackgroundURLSessionTask.State? in
            guard inner.state == .running || inner.state == .suspended else { return nil }
            defer { inner.state = .canceling }
            return inner.state
        }
        guard let before else { return }
        guard let id = task.engineTaskIdentifier else {
            fail(task, urlError(BackhaulError(.cancelled, message: "cancelled"), task.originalRequest?.url))
            return
        }
        // Its last message comes as the event of its end. Not cancelled, it is as it was: another call may do.
        if !attempt({ () throws(BackhaulError) in try opened().cancel(id) }) {
            task.inner.with { if $0.state == .canceling { $0.state = before } }
        }
    }

    /// For what a task's property sets, once the engine has the task.
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

    /// Apple's methods have no errors to throw: what a task could not be told, the next call tells it.
    @discardableResult
    private func attempt(_ body: () throws(BackhaulError) -> Void) -> Bool {
        do throws(BackhaulError) {
            try body()
            return true
        } catch {
            return false
        }
    }

    /// A task that the engine does not have gets its last message all the same.
    private func fail(_ task: BackgroundURLSessionTask, _ error: any Error) {
        // So that nobody ends it once more meanwhile.
        task.inner.with { $0.state = .canceling }
        if delegate == nil {
            task.inner.with { inner in
                inner.state = .completed
                inner.error = error
            }
            forget(task)
        } else {
            post { $0.fail(task, error) }
        }
    }
}
