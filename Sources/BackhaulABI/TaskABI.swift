internal import BackhaulClient
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

// MARK: Listing

private func list(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ after: UInt64, _ maximum: Int
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    let selection = try SelectionArgument.read(selection)
    let maximum = UInt32(try NumberArgument.count(maximum, "maximum", in: 1...Limits.batchCount))
    return StartedVerb(
        session.client.tasks(selection, after: TaskID(hostValue: after), maximum: maximum), .batch, session.application)
}

@c @implementation
public func bh_session_tasks(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ after: UInt64, _ maximum: Int,
    _ timeout_ms: Int32, _ tasks: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: tasks, "tasks", error) { _ throws(Failure) in
        try list(session, selection, after, maximum)
    }
}

private func info(_ session: OpaquePointer?, _ task: UInt64) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    return StartedVerb(
        session.client.tasks(TaskSelection(ids: [TaskID(hostValue: task)]), after: .zero, maximum: 1), .oneTask,
        session.application)
}

@c @implementation
public func bh_session_task(
    _ session: OpaquePointer?, _ task_id: UInt64, _ timeout_ms: Int32, _ task: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, batch: task, "task", error) { _ throws(Failure) in try info(session, task_id) }
}

// MARK: Claim

private func claim(
    _ session: OpaquePointer?, _ task: UInt64, _ destination: UnsafePointer<CChar>?, _ ifExists: Int32
) throws(Failure) -> StartedVerb {
    let session = try SessionHandle(session)
    let path = try TextArgument.required(destination, "destination", limit: Limits.pathSize)
    let policy = try RequestArgument.policy(ifExists)
    guard policy != .skip else {
        throw Failure(.invalidArgument, "if_exists is BH_IF_EXISTS_SKIP, which is for requests only")
    }
    var checker = DestinationChecker()
    // A claim moves a file, such as a finished download, from the store to the destination. This check accepts a file
    // that exists at the destination: an earlier claim of the same task may have moved the file there. The engine
    // checks later whether an earlier claim did so. If no earlier claim did, the engine applies `policy`.
    let destination = try checker.check(path: path, ifExists: .replace)
    return StartedVerb(session.client.claim(TaskID(hostValue: task), destination, policy), .empty, session.application)
}

@c @implementation
public func bh_task_claim(
    _ session: OpaquePointer?, _ task_id: UInt64, _ destination: UnsafePointer<CChar>?, _ if_exists: Int32,
    _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(timeout_ms, error, { _ throws(Failure) in try claim(session, task_id, destination, if_exists) })
}
