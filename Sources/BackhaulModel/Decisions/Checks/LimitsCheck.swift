/// Checks of the limits that apply to all sessions of a store (the directory with the engine's data) together.
public enum LimitsCheck {
    public static func check(_ limits: EngineLimits) throws(Failure) {
        try FieldCheck.range(limits.maximumRunningTasks, 1...Limits.runningTasks, "maximum_running_tasks")
        try FieldCheck.range(limits.maximumConnections, 1...Limits.runningTasks, "maximum_connections")
        if let count = limits.connectionsPerOrigin {
            try FieldCheck.range(count, 1...Limits.connectionsPerOrigin, "connections_per_origin")
        }
    }
}
