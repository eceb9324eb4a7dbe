/// The id of a task. Ids increase, and a store never uses an id twice.
public struct TaskID: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The number of the task, as in the output of the command line.
    public let rawValue: UInt64

    /// Makes the id with this number, for example of a number that the program has stored.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number of the task, in decimal digits.
    public var description: String { String(rawValue) }

    /// Returns whether the left task was enqueued before the right task.
    public static func < (left: TaskID, right: TaskID) -> Bool { left.rawValue < right.rawValue }
}

/// The id of an event. Ids increase, and a store never uses an id twice.
public struct EventID: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The number of the event.
    public let rawValue: UInt64

    /// Makes the id with this number, for example of a number that the program has stored.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number of the event, in decimal digits.
    public var description: String { String(rawValue) }

    /// Returns whether the left event was stored before the right event.
    public static func < (left: EventID, right: EventID) -> Bool { left.rawValue < right.rawValue }
}

/// The id of a challenge. Ids increase, and a store never uses an id twice.
public struct ChallengeID: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The number of the challenge.
    public let rawValue: UInt64

    /// Makes the id with this number, for example of a number that the program has stored.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number of the challenge, in decimal digits.
    public var description: String { String(rawValue) }

    /// Returns whether the left challenge was opened before the right challenge.
    public static func < (left: ChallengeID, right: ChallengeID) -> Bool { left.rawValue < right.rawValue }
}
