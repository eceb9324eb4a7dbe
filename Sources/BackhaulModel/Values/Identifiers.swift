/// The row number of a session (a named collection of transfers) in the database of its store (the directory with all
/// durable data).
public struct SessionID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The row number of a task (an upload or a download) in its store. Numbers grow and are never reused.
public struct TaskID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: TaskID, right: TaskID) -> Bool { left.rawValue < right.rawValue }
    public static let zero = TaskID(rawValue: 0)
}

/// The row number of a lane in its store. Numbers are never reused. A lane is the tasks of one session for one origin
/// (scheme, host name and port).
public struct LaneID: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The row number of an event (a message for the program that uses the library) in its store. Numbers grow in the order
/// of commits and are never reused.
public struct EventID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: EventID, right: EventID) -> Bool { left.rawValue < right.rawValue }
    public static let zero = EventID(rawValue: 0)
}

/// The id of a client. When a process opens an application, the library makes a client in this process for the
/// application. The client chooses 128 random bits.
public struct ClientID: Hashable, Sendable {
    public var high: UInt64
    public var low: UInt64
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
    public static func random() -> ClientID {
        ClientID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
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
