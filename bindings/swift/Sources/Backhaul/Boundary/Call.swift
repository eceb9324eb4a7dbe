internal import CBackhaul

/// A handle of the library, such as a session or a ticket.
struct Handle: Hashable, @unchecked Sendable {
    // Unchecked: the pointer is never dereferenced here, and any thread may use it (backhaul.h, "Threads").
    let pointer: OpaquePointer

    /// The descriptors of a new session. If a descriptor cannot be made, the session is closed.
    func sessionDescriptors() throws(BackhaulError) -> (events: Int32, progress: Int32) {
        var (events, progress) = (Int32(-1), Int32(-1))
        do throws(BackhaulError) {
            try check { error in bh_session_event_fd(pointer, &events, error) }
            try check { error in bh_session_progress_fd(pointer, &progress, error) }
        } catch {
            bh_session_close(pointer)
            throw error
        }
        return (events, progress)
    }
}

/// A call of the library. Its argument is the struct in which the library stores the error.
typealias Call = (UnsafeMutablePointer<bh_error>) -> bh_status

/// Calls the library, and throws the error that it reports.
func check(_ call: Call) throws(BackhaulError) {
    let (status, error) = result(of: call)
    guard Int(status) != BH_OK else { return }
    bh_ticket_release(error.ticket)
    throw BackhaulError(status, error)
}

/// Starts a verb, a function that sends a command to the engine. `call` calls the verb with BH_START, so the verb does
/// not wait for its result. Returns the ticket, by which the result is read later.
func start(_ call: Call) throws(BackhaulError) -> Handle {
    let (status, error) = result(of: call)
    guard Int(status) == BH_STARTED, let ticket = error.ticket else { throw BackhaulError(status, error) }
    return Handle(pointer: ticket)
}

private func result(of call: Call) -> (bh_status, bh_error) {
    var error = bh_error()
    error.struct_size = MemoryLayout<bh_error>.size
    let status = call(&error)
    return (status, error)
}

extension BackhaulError {
    fileprivate init(_ status: bh_status, _ error: bh_error) {
        let message = withUnsafeBytes(of: error.message) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(
            Int(status), domain: error.domain, detail: error.detail,
            index: error.index == BH_NO_INDEX ? nil : Int(exactly: error.index),
            message: message.isEmpty ? nil : message)
    }
}

/// The batch that a listing or poll returned. The batch is released when this value is deinitialized.
struct Batch: ~Copyable {
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { self.pointer = pointer }
    deinit { bh_batch_release(pointer) }

    var hasMore: Bool { bh_batch_more(pointer) }
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
    func metrics() -> String? { items(bh_batch_metrics_at).first?.text.map { String(cString: $0) } }
    func applications() -> [ApplicationInfo] { items(bh_batch_application_at).map { ApplicationInfo($0) } }
    func launches() -> [LaunchInfo] { items(bh_batch_launch_info_at).map { LaunchInfo($0) } }
    func launch() -> Launch? { items(bh_batch_launch_at).first.map { Launch($0) } }
    func engine() -> EngineInfo? { items(bh_batch_engine_at).first.map { EngineInfo($0) } }

    func waits() -> [Wait] { items(bh_batch_wait_at).map { Wait($0) } }
    func conditions() -> [Condition] { items(bh_batch_condition_at).map { Condition($0) } }
    func holds() -> [Hold] { items(bh_batch_hold_at).map { Hold($0) } }
    func networks() -> [Network] { items(bh_batch_network_at).map { Network($0) } }
    func activities() -> [ActivityInfo] { items(bh_batch_activity_at).map { ActivityInfo($0) } }

    /// The results of an enqueue, in the order of the requests.
    func enqueued() -> [Enqueued] {
        items(bh_batch_enqueued_at).sorted { $0.request < $1.request }.map { Enqueued($0) }
    }

    private func items<Item>(_ item: (OpaquePointer?, Int) -> UnsafePointer<Item>?) -> [Item] {
        (0..<bh_batch_count(pointer)).compactMap { item(pointer, $0)?.pointee }
    }
}

/// The outcome of a ticket whose verb has ended.
struct Outcome {
    let ticket: Handle

    /// Throws the error of the verb, if the verb failed.
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
}
