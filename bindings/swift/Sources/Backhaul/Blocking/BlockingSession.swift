internal import CBackhaul
internal import Glibc
internal import Synchronization

/// A session whose methods block the calling thread. The session is closed when `close` is called, or when its last
/// reference is released.
package final class BlockingSession: Sendable {
    /// A descriptor that is readable while there are events that `poll` has not returned.
    package let eventDescriptor: Int32
    /// A descriptor that is readable while there are progress readings that `pollProgress` has not returned.
    package let progressDescriptor: Int32
    // Unsafe: the handle is opaque, and is never dereferenced here.
    private let handle: Handle
    private let application: BlockingApplication
    private let isClosed = Mutex(false)

    init(_ application: BlockingApplication, _ handle: Handle) throws(BackhaulError) {
        self.application = application
        self.handle = handle
        var (events, progress) = (Int32(-1), Int32(-1))
        do throws(BackhaulError) {
            try check { error in bh_session_event_fd(handle.pointer, &events, error) }
            try check { error in bh_session_progress_fd(handle.pointer, &progress, error) }
        } catch {
            bh_session_close(handle.pointer)
            throw error
        }
        (eventDescriptor, progressDescriptor) = (events, progress)
    }

    deinit { close() }

    /// Closes the session. Later calls throw. A second `close` has no effect.
    package func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { bh_session_close(handle.pointer) }
    }

    package func configuration() throws(BackhaulError) -> SessionConfiguration {
        let configurations = try batch { bh_session_get_configuration(handle.pointer, wait, $0, $1) }.configurations()
        guard let configuration = configurations.first else { throw BackhaulError(BH_INTERNAL) }
        return configuration
    }

    package func setConfiguration(_ configuration: SessionConfiguration) throws(BackhaulError) {
        let arena = Arena()
        var value = try configuration.value(arena)
        try check { error in bh_session_set_configuration(handle.pointer, &value, wait, error) }
    }

    package func invalidate(cancellingTasks: Bool) throws(BackhaulError) {
        let mode = Int32(cancellingTasks ? BH_INVALIDATE_CANCEL : BH_INVALIDATE_FINISH)
        try check { error in bh_session_invalidate(handle.pointer, mode, wait, error) }
    }

    package func complete() throws(BackhaulError) {
        try check { error in bh_session_complete(handle.pointer, wait, error) }
    }

    package func enqueue(_ request: Request) throws(BackhaulError) -> TaskID {
        let prepared = try PreparedRequests([request])
        let enqueued = try batch { prepared.enqueue(handle, wait, $0, $1) }.enqueued()
        guard let first = enqueued.first else { throw BackhaulError(BH_INTERNAL) }
        return first.taskID
    }

    /// Returns the available events, and does not wait for new ones.
    package func poll(after: EventID?, maximum: Int) throws(BackhaulError) -> (events: [Event], more: Bool) {
        let batch = try batch { bh_session_poll(handle.pointer, after?.rawValue ?? 0, maximum, 0, $0, $1) }
        return (batch.events(), batch.hasMore)
    }

    package func acknowledge(_ ids: [EventID]) throws(BackhaulError) {
        if ids.isEmpty { return }
        let values = ids.map(\.rawValue)
        try check { error in bh_session_acknowledge(handle.pointer, values, values.count, wait, nil, error) }
    }

    package func challenges() throws(BackhaulError) -> [Challenge] {
        try batch { bh_session_challenges(handle.pointer, wait, $0, $1) }.challenges()
    }

    package func respond(toChallenge id: ChallengeID, with response: ChallengeResponse) throws(BackhaulError) {
        let arena = Arena()
        var value = try response.value(arena, isKept: false, expiresMilliseconds: nil)
        try check { error in bh_session_respond(handle.pointer, id.rawValue, &value, wait, error) }
    }

    package func watchProgress(milliseconds: UInt32) throws(BackhaulError) {
        try check { error in bh_session_watch_progress(handle.pointer, milliseconds, wait, error) }
    }

    /// Returns the available progress readings, and does not wait for new ones.
    package func pollProgress() throws(BackhaulError) -> [TaskProgress] {
        try batch { bh_session_poll_progress(handle.pointer, 0, $0, $1) }.progress()
    }

    /// Returns all tasks of the selection. The method reads the tasks in pages.
    package func tasks(_ selection: TaskSelection) throws(BackhaulError) -> [TaskInfo] {
        if selection.selectsNothing { return [] }
        let arena = Arena()
        var value = try selection.value(arena)
        var tasks: [TaskInfo] = []
        while true {
            let page = try batch {
                bh_session_tasks(handle.pointer, &value, tasks.last?.id.rawValue ?? 0, 1000, wait, $0, $1)
            }
            let items = page.tasks()
            tasks += items
            if items.isEmpty || !page.hasMore { return tasks }
        }
    }

    /// Returns the attempts (runs) of a task. The task may be in the history of ended tasks.
    package func attempts(_ id: TaskID) throws(BackhaulError) -> [Attempt] {
        try batch { bh_task_attempts(handle.pointer, id.rawValue, wait, $0, $1) }.attempts()
    }

    package func setActivity(_ activity: Activity) throws(BackhaulError) {
        let arena = Arena()
        var value = try activity.value(arena)
        try check { error in bh_session_set_activity(handle.pointer, &value, wait, error) }
    }

    package func removeActivity(_ identifier: String) throws(BackhaulError) {
        let arena = Arena()
        let name = try arena.string(identifier, "the activity's identifier")
        try check { error in bh_session_remove_activity(handle.pointer, name, wait, error) }
    }

    package func cancel(_ id: TaskID) throws(BackhaulError) {
        try control(id) { bh_tasks_cancel($0, $1, $2, nil, $3) }
    }

    package func cancel(_ selection: TaskSelection) throws(BackhaulError) {
        if selection.selectsNothing { return }
        let arena = Arena()
        var value = try selection.value(arena)
        try check { error in bh_tasks_cancel(handle.pointer, &value, wait, nil, error) }
    }

    package func suspend(_ id: TaskID) throws(BackhaulError) {
        try control(id) { bh_tasks_suspend($0, $1, $2, nil, $3) }
    }

    package func setAside(_ id: TaskID) throws(BackhaulError) {
        try control(id) { bh_tasks_set_aside($0, $1, $2, nil, $3) }
    }

    package func resume(_ id: TaskID) throws(BackhaulError) {
        try control(id) { bh_tasks_resume($0, $1, $2, nil, $3) }
    }

    package func setPriority(_ priority: Int32, _ id: TaskID) throws(BackhaulError) {
        try control(id) { bh_tasks_set_priority($0, $1, priority, $2, nil, $3) }
    }

    package func reschedule(
        earliestStart: StartChange = .unchanged, latestStart: StartChange = .unchanged, _ id: TaskID
    ) throws(BackhaulError) {
        try control(id) {
            bh_tasks_reschedule($0, $1, earliestStart.value, latestStart.value, $2, nil, $3)
        }
    }

    private func control(
        _ id: TaskID,
        _ verb: (OpaquePointer, UnsafePointer<bh_task_selection>, Int32, UnsafeMutablePointer<bh_error>) -> bh_status
    ) throws(BackhaulError) {
        let arena = Arena()
        var value = try TaskSelection.ids(id).value(arena)
        try check { error in verb(handle.pointer, &value, wait, error) }
    }
}

private let wait = BH_WAIT_DEFAULT
