internal import BackhaulModel

/// Writes and reads the settings of a task in the binary form of docs/wire.md.
extension TaskPolicy: WireRecord {
    static var blank: TaskPolicy { TaskPolicy() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try visitFields(with: &coder)
        // Most tasks have no constraints. For such a task, one byte is written.
        try coder.field(&constraints, as: { $0 == Constraints.none ? nil : $0 }, from: { $0 ?? Constraints.none })
    }
}

extension EngineLimits: WireRecord {
    static var blank: EngineLimits { EngineLimits() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&bytesPerSecond)
        try coder.field(&maximumRunningTasks)
        try coder.field(&maximumConnections)
        try coder.field(&connectionsPerOrigin)
    }
}
