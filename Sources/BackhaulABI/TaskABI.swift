internal import BackhaulClient
internal import BackhaulDisk
internal import BackhaulModel
public import CBackhaul

// Unsafe: until the call returns, the host must keep the call's arguments readable, and the call's out parameters
// writable.

// MARK: Listing

@c @implementation
public func bh_session_tasks(
    _ session: OpaquePointer?, _ selection: UnsafePointer<bh_task_selection>?, _ after: UInt64, _ maximum: Int,
    _ timeout_ms: Int32, _ tasks: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: tasks, "tasks", error) { client throws(Failure) in
        let selection = try SelectionArgument.read(selection)
        let maximum = UInt32(try NumberArgument.count(maximum, "maximum", in: 1...Limits.batchCount))
        return client.tasks(selection, after: TaskID(hostValue: after), maximum: maximum)
    }
}

@c @implementation
public func bh_session_task(
    _ session: OpaquePointer?, _ task_id: UInt64, _ timeout_ms: Int32, _ task: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, batch: task, "task", error, .oneTask) {
        $0.tasks(TaskSelection(ids: [TaskID(hostValue: task_id)]), after: .zero, maximum: 1)
    }
}

// MARK: Claim

@c @implementation
public func bh_task_claim(
    _ session: OpaquePointer?, _ task_id: UInt64, _ destination: UnsafePointer<CChar>?, _ if_exists: Int32,
    _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.verb(try SessionHandle(session), timeout_ms, error) { client throws(Failure) in
        let path = try TextArgument.required(destination, "destination", limit: Limits.pathSize)
        let policy = try RequestArgument.policy(if_exists)
        guard policy != .skip else {
            throw Failure(.invalidArgument, "if_exists is BH_IF_EXISTS_SKIP, which is for requests only")
        }
        var checker = DestinationCheck()
        // This check accepts a file that exists at the destination, because an earlier claim of the same task may have
        // moved the file there. The engine checks this later. If no earlier claim did so, the engine applies `policy`.
        let destination = try checker.check(path: path, ifExists: .replace)
        return client.submit { .claim($0, TaskID(hostValue: task_id), destination, policy) }
    }
}
