internal import BackhaulModel
public import CBackhaul

// Unsafe: what is returned lies in the batch's memory and lives as long as the batch.

@c @implementation
public func bh_batch_count(_ batch: OpaquePointer?) -> Int { Batch.of(batch)?.count ?? 0 }

@c @implementation
public func bh_batch_more(_ batch: OpaquePointer?) -> Int32 { Batch.of(batch)?.more == true ? 1 : 0 }

@c @implementation
public func bh_batch_event_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_event>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_task_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_task>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_session_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_session_info>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_configuration_at(
    _ batch: OpaquePointer?, _ index: Int
) -> UnsafePointer<bh_session_configuration>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_challenge_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_challenge>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_progress_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_progress>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_launch_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_launch>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_launch_info_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_launch_info>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_engine_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_engine_info>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_attempt_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_attempt>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_limits_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_limits>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_wait_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_wait>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_condition_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_condition>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_hold_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_hold>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_network_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_network>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_activity_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_activity>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_existing_task_at(_ batch: OpaquePointer?, _ index: Int) -> UnsafePointer<bh_existing_task>? {
    Batch.of(batch)?.item(at: index)
}

@c @implementation
public func bh_batch_release(_ batch: OpaquePointer?) {
    _ = HandleTable.current.remove(batch) { target -> Batch? in
        if case .batch(let batch) = target { batch } else { nil }
    }
}
