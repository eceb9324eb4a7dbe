internal import CBackhaul

/// Why a call or a task did not succeed.
///
/// A status from a newer version of the library is a failure. This type has no constant for such a status, but the
/// properties `name` and `text` describe it.
public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number of the status, as in the C header.
    public let rawValue: Int32

    /// Makes the status with this number.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The name of the status, such as "BH_IN_USE".
    public var name: String { String(cString: bh_status_name(rawValue)) }

    /// The meaning of the status in a few words.
    public var text: String { String(cString: bh_status_text(rawValue)) }

    /// The name of the status.
    public var description: String { name }

    /// Success.
    public static let ok = Status(BH_OK)
    /// An argument is missing, malformed or out of range.
    public static let invalidArgument = Status(BH_INVALID_ARGUMENT)
    /// The handle is closed or was never valid.
    public static let invalidHandle = Status(BH_INVALID_HANDLE)
    /// The process was forked after its parent had opened an application.
    public static let forked = Status(BH_FORKED)
    /// There is no such session, task, challenge or activity.
    public static let notFound = Status(BH_NOT_FOUND)
    /// An object with this name exists already.
    public static let alreadyExists = Status(BH_ALREADY_EXISTS)
    /// The idempotency key was used for another request.
    public static let keyConflict = Status(BH_KEY_CONFLICT)
    /// Another task has the same destination.
    public static let destinationInUse = Status(BH_DESTINATION_IN_USE)
    /// Another consumer has the session.
    public static let inUse = Status(BH_IN_USE)
    /// The operation takes longer than the wait; the ticket returns the outcome later.
    public static let timeout = Status(BH_TIMEOUT)
    /// The session or task is not in a state that allows this.
    public static let wrongState = Status(BH_WRONG_STATE)
    /// The handle's role does not allow this.
    public static let wrongRole = Status(BH_WRONG_ROLE)
    /// The session was invalidated.
    public static let invalidated = Status(BH_INVALIDATED)
    /// Events were polled and not acknowledged.
    public static let eventsOutstanding = Status(BH_EVENTS_OUTSTANDING)
    /// A limit of the library is reached.
    public static let tooMany = Status(BH_TOO_MANY)
    /// The session was completed, which ended this handle; attach again.
    public static let completed = Status(BH_COMPLETED)
    /// The operation was started; the ticket returns its outcome.
    public static let started = Status(BH_STARTED)
    /// The store cannot be opened or made.
    public static let storeUnavailable = Status(BH_STORE_UNAVAILABLE)
    /// The store cannot be written.
    public static let storeReadOnly = Status(BH_STORE_READ_ONLY)
    /// The store's file system is full.
    public static let storeFull = Status(BH_STORE_FULL)
    /// The store's database is damaged.
    public static let storeDamaged = Status(BH_STORE_DAMAGED)
    /// The store was written by a newer version of the library.
    public static let storeNewer = Status(BH_STORE_NEWER)
    /// The store is on a network file system, where locks are not reliable.
    public static let storeOnNetworkFileSystem = Status(BH_STORE_ON_NETWORK_FILE_SYSTEM)
    /// The engine has the lock of the store, but does not reply.
    public static let engineUnresponsive = Status(BH_ENGINE_UNRESPONSIVE)
    /// The engine speaks another version of the protocol.
    public static let engineIncompatible = Status(BH_ENGINE_INCOMPATIBLE)
    /// The engine stopped because of an error.
    public static let engineFailed = Status(BH_ENGINE_FAILED)
    /// Memory, threads or descriptors are exhausted.
    public static let outOfResources = Status(BH_OUT_OF_RESOURCES)
    /// A defect of the library; please report it.
    public static let `internal` = Status(BH_INTERNAL)
    /// The daemon is not found or cannot be started.
    public static let daemonUnavailable = Status(BH_DAEMON_UNAVAILABLE)
    /// The task was cancelled.
    public static let cancelled = Status(BH_CANCELLED)
    /// The server's name cannot be resolved.
    public static let nameNotResolved = Status(BH_NAME_NOT_RESOLVED)
    /// No connection to the server can be made.
    public static let connectionFailed = Status(BH_CONNECTION_FAILED)
    /// The connection broke before the transfer was complete.
    public static let connectionLost = Status(BH_CONNECTION_LOST)
    /// The server sent no bytes within the request time-out.
    public static let requestTimeout = Status(BH_REQUEST_TIMEOUT)
    /// The task did not end within its resource time-out.
    public static let resourceTimeout = Status(BH_RESOURCE_TIMEOUT)
    /// The TLS connection cannot be made or the certificate does not verify.
    public static let tlsFailed = Status(BH_TLS_FAILED)
    /// The server responded with a status that is not accepted.
    public static let httpStatus = Status(BH_HTTP_STATUS)
    /// A redirect has no valid target, leads in a circle, or to a scheme that is not allowed.
    public static let redirectRefused = Status(BH_REDIRECT_REFUSED)
    /// The server's response breaks the rules of HTTP.
    public static let badResponse = Status(BH_BAD_RESPONSE)
    /// A file with the destination's name is already there.
    public static let destinationExists = Status(BH_DESTINATION_EXISTS)
    /// The destination cannot be written.
    public static let destinationUnavailable = Status(BH_DESTINATION_UNAVAILABLE)
    /// The destination's file system is full.
    public static let diskFull = Status(BH_DISK_FULL)
    /// The disk reported an error.
    public static let diskFailed = Status(BH_DISK_FAILED)
    /// The server's response is larger than a limit allows.
    public static let tooLarge = Status(BH_TOO_LARGE)
    /// The server or proxy demands a credential, and has accepted none.
    public static let authenticationRequired = Status(BH_AUTHENTICATION_REQUIRED)
    /// The digest of the bytes is not the expected one.
    public static let checksumMismatch = Status(BH_CHECKSUM_MISMATCH)
    /// The size of the file is not the expected one.
    public static let sizeMismatch = Status(BH_SIZE_MISMATCH)
    /// A file of the request's body cannot be read.
    public static let bodyUnavailable = Status(BH_BODY_UNAVAILABLE)
    /// A file of the request's body was changed after the enqueue.
    public static let bodyChanged = Status(BH_BODY_CHANGED)
    /// The TLS connection ended without close_notify, so the body may be truncated.
    public static let tlsTruncated = Status(BH_TLS_TRUNCATED)
    /// The directory or the file system of the task's file is away.
    public static let storageAway = Status(BH_STORAGE_AWAY)
    /// The response has a media type that is not accepted, or is a page in place of the file.
    public static let unexpectedType = Status(BH_UNEXPECTED_TYPE)
    /// The server's address is private, and the request refuses private addresses.
    public static let addressRefused = Status(BH_ADDRESS_REFUSED)
    /// A task that this task waited for did not succeed.
    public static let dependencyFailed = Status(BH_DEPENDENCY_FAILED)

    private init(_ constant: Int) { rawValue = Int32(constant) }
}
