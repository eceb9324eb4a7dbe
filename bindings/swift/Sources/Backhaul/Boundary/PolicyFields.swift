internal import CBackhaul

// Unsafe: the pointers that the structs of C have; nothing is read through them here.

/// The fields that a session's configuration has in common with a task's policy.
protocol PolicyFields: ConstraintFields {
    var maximum_attempts: UInt32 { get set }
    var first_retry_delay_ms: UInt32 { get set }
    var longest_retry_delay_ms: UInt32 { get set }
    var retry_jitter_percent: UInt32 { get set }
    var retry_errors: UInt32 { get set }
    var retries_unsafe_methods: Int32 { get set }
    var retry_statuses: UnsafePointer<CChar>! { get set }
    var accepted_statuses: UnsafePointer<CChar>! { get set }
    var request_timeout_ms: UInt32 { get set }
    var resource_timeout_ms: UInt64 { get set }
    var http_version: Int32 { get set }
    var redirects: Int32 { get set }
    var maximum_redirects: UInt32 { get set }
    var maximum_size: UInt64 { get set }
    var bytes_per_second: UInt64 { get set }
}

/// Those of them that say what it waits for.
protocol ConstraintFields {
    var preset: Int32 { get set }
    var requires_external_power: Int32 { get set }
    var requires_unmetered: Int32 { get set }
    var networks: UInt32 { get set }
    var minimum_battery_percent: UInt32 { get set }
    var maximum_thermal_state: Int32 { get set }
    var maximum_cpu_pressure_percent: UInt32 { get set }
    var maximum_io_pressure_percent: UInt32 { get set }
    var maximum_memory_pressure_percent: UInt32 { get set }
    var minimum_bytes_per_second: UInt64 { get set }
    var quiet_hours: UnsafePointer<CChar>! { get set }
}

extension bh_session_configuration: PolicyFields {}
extension bh_policy: PolicyFields {}
