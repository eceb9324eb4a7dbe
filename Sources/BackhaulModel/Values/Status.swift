/// The result of a call, or the reason why a task failed. The codes are those of `BH_STATUS_TABLE` in
/// include/backhaul.h, which explains each code. A test compares this list with the header.
public enum Status: Int32, Sendable, CaseIterable {
    case ok = 0
    case invalidArgument = 1
    case invalidHandle = 2
    case forked = 3
    case notFound = 4
    case alreadyExists = 5
    case keyConflict = 6
    case destinationInUse = 7
    case inUse = 8
    case timeout = 9
    case wrongState = 10
    case wrongRole = 11
    case invalidated = 12
    case eventsOutstanding = 13
    case tooMany = 14
    case completed = 15
    case started = 16
    case storeUnavailable = 20
    case storeReadOnly = 21
    case storeFull = 22
    case storeDamaged = 23
    case storeNewer = 24
    case storeOnNetworkFileSystem = 25
    case engineUnresponsive = 30
    case engineIncompatible = 31
    case engineFailed = 32
    case outOfResources = 33
    case `internal` = 34
    case daemonUnavailable = 35
    case cancelled = 40
    case nameNotResolved = 41
    case connectionFailed = 42
    case connectionLost = 43
    case requestTimeout = 44
    case resourceTimeout = 45
    case tlsFailed = 46
    case httpStatus = 47
    case redirectRefused = 48
    case badResponse = 49
    case destinationExists = 50
    case destinationUnavailable = 51
    case diskFull = 52
    case diskFailed = 53
    case tooLarge = 54
    case authenticationRequired = 55
    case checksumMismatch = 56
    case sizeMismatch = 57
    case bodyUnavailable = 58
    case bodyChanged = 59
    case tlsTruncated = 60
    case storageAway = 61
    case unexpectedType = 62
    case addressRefused = 63
    case dependencyFailed = 64
}

/// The kind of code in `Failure.detail`: `BH_DOMAIN_…`.
public enum FailureDomain: Int32, Sendable, CaseIterable {
    case none = 0
    case system = 1
    case curl = 2
    case sqlite = 3
    case http = 4
    case process = 5
}

/// An error as hosts get it: one status, the code that caused the error, and a message that says what was wrong and
/// what to do.
public struct Failure: Error, Equatable, Sendable {
    public var status: Status
    public var domain: FailureDomain
    public var detail: Int64
    public var message: String
    /// The position of the first wrong item, if an argument is an array; nil in all other cases.
    public var index: UInt64?

    /// Whether the failure is temporary: this machine lacks memory, threads or descriptors, or the engine is ending.
    /// The same work may succeed later.
    public var isTemporaryShortage: Bool { status == .outOfResources || status == .engineFailed }

    public init(
        _ status: Status, _ message: String, domain: FailureDomain = .none, detail: Int64 = 0, index: UInt64? = nil
    ) {
        self.status = status
        self.domain = domain
        self.detail = detail
        self.message = message
        self.index = index
    }

    public static func system(_ status: Status, code: Int32, _ message: String) -> Failure {
        Failure(status, message, domain: .system, detail: Int64(code))
    }
}

extension Failure {
    /// Why a handle of a session does not work any more after the session was invalidated and removed.
    public static let sessionRemoved = Failure(
        .invalidated,
        "the session was invalidated and is removed; close its handle, and create the session again to use it again")
}
