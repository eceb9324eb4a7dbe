/// The limits that hosts meet, as include/backhaul.h names them.
public enum Limits {
    public static let urlSize = 16_384
    public static let userDataSize = 65_536
    public static let headerCount = 100
    public static let headersSize = 65_536
    public static let enqueueCount = 10_000_000
    public static let keySize = 255
    public static let identifierSize = 255
    /// Linux's PATH_MAX, without its NUL.
    public static let pathSize = 4_095
    /// Linux's NAME_MAX.
    public static let fileNameSize = 255
    public static let batchCount = 10_000
    public static let connectionsPerOrigin: UInt32 = 256
    public static let runningTasks: UInt32 = 1_024
    /// Ids of one acknowledgement or selection.
    public static let idCount = 100_000
    /// Requests of one atomic chunk of an enqueue.
    public static let chunkCount = 4_096
    /// Bytes of one chunk, so that a frame of the wire stays small.
    public static let chunkSize = 1 << 20
    /// Bytes of a user name or password.
    public static let credentialSize = 4_096
    /// Arguments of a launch command, and additions to its environment.
    public static let launchTextCount = 1_000
    /// Bytes of all texts of a launch command together.
    public static let launchTextSize = 65_536
    /// Milliseconds between two readings of one task.
    public static let progressInterval: ClosedRange<UInt32> = 100...60_000
    /// Bytes kept of the body of an answer that was not accepted.
    public static let errorBodySize = 4_096
    /// Bytes kept of the body of the answer to an upload.
    public static let responseBodySize = 65_536
    /// Bytes of a request's body that is given in memory.
    public static let bodySize = 1 << 20
    public static let partCount = 1_000
    public static let groupSize = 255
    public static let methodSize = 64
    /// The priority that needs no turn.
    public static let priorityNow: Int32 = 101
    public static let redirects: UInt32 = 100
    public static let history: UInt32 = 100_000
    /// Waits of one task that are listed.
    public static let waitCount = 1_000
    /// Activities of one session.
    public static let activityCount = 1_000
    /// Different constraints that tasks of one session may state.
    public static let constraintsCount = 1_000
    /// The last millisecond of the year 9999, in Unix milliseconds: what calendars and hosts' own types of time know.
    public static let time: Int64 = 253_402_300_799_999
    /// Attempts of one task that are listed.
    public static let attemptCount = 100
}
