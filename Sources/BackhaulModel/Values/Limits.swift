/// The limits for hosts, which are the programs that use the library. The names of the limits are those of
/// include/backhaul.h.
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
    /// The most ids in one acknowledgement of events, or in one selection of tasks.
    public static let idCount = 100_000
    /// The most requests of one chunk. An enqueue sends requests to the engine in chunks. The engine stores all
    /// requests of a chunk as tasks, or none.
    public static let chunkCount = 4_096
    /// The most bytes of one chunk. This limit keeps the messages on the socket small.
    public static let chunkSize = 1 << 20
    /// The most bytes of a user name or password.
    public static let credentialSize = 4_096
    /// The most arguments of a launch command, and the most variables that the command adds to the environment.
    public static let launchTextCount = 1_000
    /// The most bytes of all texts of a launch command together.
    public static let launchTextSize = 65_536
    /// The permitted number of milliseconds between two progress reports of one task.
    public static let progressInterval: ClosedRange<UInt32> = 100...60_000
    /// How long the part file of a failed download is retained for a later task with the same destination and key, in
    /// milliseconds: seven days.
    public static let retainedPartMilliseconds: Int64 = 7 * 24 * 3_600_000
    /// The most bytes of an error body that are kept. An error body is the body of a response that was not accepted.
    public static let errorBodySize = 4_096
    /// The most bytes that are kept of an upload's response body.
    public static let responseBodySize = 65_536
    /// The largest request body that a host can give in memory, in bytes.
    public static let bodySize = 1 << 20
    public static let partCount = 1_000
    /// The most tasks that one task waits for.
    public static let dependencyCount = 16
    /// The longest text that says where in a response a value is.
    public static let placeSize = 1_024
    public static let groupSize = 255
    public static let methodSize = 64
    /// The priority of urgent tasks, which run before all other tasks.
    public static let priorityNow: Int32 = 101
    /// The permitted number of milliseconds of a delay or time-out: up to one day.
    public static let delay: ClosedRange<UInt64> = 1...86_400_000
    /// The permitted number of milliseconds from the enqueue to the end of a task: up to ten years.
    public static let resourceTimeout: ClosedRange<UInt64> = 1...315_360_000_000
    public static let history: UInt32 = 100_000
    /// The most wait records (reasons and times of waits) of one task in a listing.
    public static let waitCount = 1_000
    /// The most tasks whose attempts or waits one command reads.
    public static let recordCount = 1_000
    /// The most activities of one session.
    public static let activityCount = 1_000
    /// The maximum number of distinct sets of constraints that the tasks of one session may state.
    public static let constraintsCount = 1_000
    /// The last millisecond of the year 9999, in Unix milliseconds. Calendars and the time types of hosts support all
    /// times up to this time.
    public static let time: Int64 = 253_402_300_799_999
    /// The most attempts of one task in a listing.
    public static let attemptCount = 100
}
