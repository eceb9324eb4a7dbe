internal import CBackhaul

/// A handle of the library.
struct Handle: Hashable, @unchecked Sendable {
    // Unchecked: an opaque number that is never dereferenced, and every thread may use it (backhaul.h, "Threads").
    let pointer: OpaquePointer
}

/// Calls the library and throws what it reports.
func check(_ body: (UnsafeMutablePointer<bh_error>) -> bh_status) throws(BackhaulError) {
    var error = bh_error()
    error.struct_size = MemoryLayout<bh_error>.size
    error.index = UInt64.max
    let status = body(&error)
    guard Int(status) != BH_OK else { return }
    bh_ticket_release(error.ticket)
    let message = withUnsafeBytes(of: error.message) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    throw BackhaulError(
        Int(status), domain: error.domain, detail: error.detail,
        index: error.index == UInt64.max ? nil : Int(exactly: error.index), message: message.isEmpty ? nil : message)
}

/// What a listing or poll handed out.
struct Batch: ~Copyable {
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { self.pointer = pointer }
    deinit { bh_batch_release(pointer) }

    var hasMore: Bool { bh_batch_more(pointer) != 0 }
    func events() -> [Event] { items(bh_batch_event_at).map { Event($0) } }
    func tasks() -> [TaskInfo] { items(bh_batch_task_at).map { TaskInfo($0) } }
    func sessions() -> [SessionInfo] { items(bh_batch_session_at).map { SessionInfo($0) } }
    func configurations() -> [SessionConfiguration] {
        items(bh_batch_configuration_at).map { SessionConfiguration($0) }
    }

    func challenges() -> [Challenge] { items(bh_batch_challenge_at).map { Challenge($0) } }
    func progress() -> [TaskProgress] { items(bh_batch_progress_at).map { TaskProgress($0) } }
    func attempts() -> [Attempt] { items(bh_batch_attempt_at).map { Attempt($0) } }
    func limits() -> Limits? { items(bh_batch_limits_at).first.map { Limits($0) } }
    func launches() -> [LaunchInfo] { items(bh_batch_launch_info_at).map { LaunchInfo($0) } }
    func launch() -> Launch? { items(bh_batch_launch_at).first.map { Launch($0) } }
    func engine() -> EngineInfo? { items(bh_batch_engine_at).first.map { EngineInfo($0) } }

    func waits() -> [Wait] { items(bh_batch_wait_at).map { Wait($0) } }
    func conditions() -> [Condition] { items(bh_batch_condition_at).map { Condition($0) } }
    func holds() -> [Hold] { items(bh_batch_hold_at).map { Hold($0) } }
    func networks() -> [Network] { items(bh_batch_network_at).map { Network($0) } }
    func activities() -> [ActivityInfo] { items(bh_batch_activity_at).map { ActivityInfo($0) } }

    func existingTasks() -> [bh_existing_task] { items(bh_batch_existing_task_at) }

    private func items<Item>(_ item: (OpaquePointer?, Int) -> UnsafePointer<Item>?) -> [Item] {
        (0..<bh_batch_count(pointer)).compactMap { item(pointer, $0)?.pointee }
    }
}

/// The results of an answered ticket.
struct Answer {
    let ticket: Handle

    /// Throws what the verb reported.
    func done() throws(BackhaulError) { try check { error in bh_ticket_wait(ticket.pointer, 0, error) } }

    func batch() throws(BackhaulError) -> Batch {
        var batch: OpaquePointer?
        try check { error in bh_ticket_batch(ticket.pointer, &batch, error) }
        return Batch(batch)
    }

    func session() throws(BackhaulError) -> (Handle, isNew: Bool) {
        var session: OpaquePointer?
        var disposition: Int32 = 0
        try check { error in bh_ticket_session(ticket.pointer, &session, &disposition, error) }
        guard let session else { throw BackhaulError(BH_INTERNAL) }
        return (Handle(pointer: session), Int(disposition) == BH_SESSION_CREATED)
    }

    func count() throws(BackhaulError) -> UInt64 {
        var count: UInt64 = 0
        try check { error in bh_ticket_count(ticket.pointer, &count, error) }
        return count
    }

    /// The results of an enqueue that has succeeded.
    func enqueued(capacity: Int) throws(BackhaulError) -> [Enqueued] {
        var results = [bh_enqueued](repeating: bh_enqueued(), count: capacity)
        var applied = 0
        try check { error in bh_ticket_enqueued(ticket.pointer, &results, capacity, &applied, error) }
        var enqueued = results.map { Enqueued(taskID: $0.task_id, isNew: Int($0.disposition) == BH_ENQUEUE_NEW) }
        for found in try batch().existingTasks() {
            if let index = Int(exactly: found.request), enqueued.indices.contains(index) { enqueued[index].add(found) }
        }
        return enqueued
    }
}
