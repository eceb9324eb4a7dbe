/// The number of a row in the database of a store. Where the order of objects decides anything, they are in the order
/// of their numbers: the order of a `Dictionary` or `Set` differs from run to run.
public protocol RowNumber: RawRepresentable, Hashable, Comparable, Sendable where RawValue == UInt64 {}

extension RowNumber {
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The row number of a session.
public struct SessionID: RowNumber {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The row number of a task. Numbers grow and are never reused.
public struct TaskID: RowNumber {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let zero = TaskID(rawValue: 0)
}

/// The row number of a lane. Numbers are never reused.
public struct LaneID: RowNumber {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The row number of an event. Numbers grow in the order of commits and are never reused.
public struct EventID: RowNumber {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let zero = EventID(rawValue: 0)
}

/// The id of a client. When a process opens an application, the library makes a client in this process for the
/// application. The client chooses random bits.
public struct ClientID: Hashable, Sendable {
    public var high: UInt64
    public var low: UInt64
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The number of a session handle, which is a client's reference to an open session. The client chooses the number.
public struct HandleID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The id of a command. The engine, which runs the tasks, applies a command one time, even if the client sends the
/// command several times.
public struct CommandID: Hashable, Sendable {
    public var client: ClientID
    /// The number of the command among the client's commands, from 1.
    public var sequence: UInt64
    public init(client: ClientID, sequence: UInt64) {
        self.client = client
        self.sequence = sequence
    }
}
