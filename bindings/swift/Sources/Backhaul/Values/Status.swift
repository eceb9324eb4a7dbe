internal import CBackhaul

/// Why a call or a task did not succeed.
///
/// A status from a newer version of the library is a failure. This type has no constant for such a status, but the
/// properties `name` and `text` describe it.
public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The name of the status, such as "BH_IN_USE".
    public var name: String { String(cString: bh_status_name(rawValue)) }

    /// The meaning of the status in a few words.
    public var text: String { String(cString: bh_status_text(rawValue)) }

    public var description: String { name }

    public static let ok = Status(BH_OK)
    public static let invalidArgument = Status(BH_INVALID_ARGUMENT)
    public static let invalidHandle = Status(BH_INVALID_HANDLE)
    public static let forked = Status(BH_FORKED)
    public static let notFound = Status(BH_NOT_FOUND)
    public static let alreadyExists = Status(BH_ALREADY_EXISTS)
    public static let keyConflict = Status(BH_KEY_CONFLICT)
    public static let destinationInUse = Status(BH_DESTINATION_IN_USE)
    public static let inUse = Status(BH_IN_USE)
    public static let timeout = Status(BH_TIMEOUT)
    public static let wrongState = Status(BH_WRONG_STATE)
    public static let wrongRole = Status(BH_WRONG_ROLE)
    public static let invalidated = Status(BH_INVALIDATED)
    public static let eventsOutstanding = Status(BH_EVENTS_OUTSTANDING)
    public static let tooMany = Status(BH_TOO_MANY)
    public static let completed = Status(BH_COMPLETED)
    public static let started = Status(BH_STARTED)
    public static let storeUnavailable = Status(BH_STORE_UNAVAILABLE)
    public static let storeReadOnly = Status(BH_STORE_READ_ONLY)
    public static let storeFull = Status(BH_STORE_FULL)
    public static let storeDamaged = Status(BH_STORE_DAMAGED)
    public static let storeNewer = Status(BH_STORE_NEWER)
    public static let storeOnNetworkFileSystem = Status(BH_STORE_ON_NETWORK_FILE_SYSTEM)
    public static let engineUnresponsive = Status(BH_ENGINE_UNRESPONSIVE)
    public static let engineIncompatible = Status(BH_ENGINE_INCOMPATIBLE)
    public static let engineFailed = Status(BH_ENGINE_FAILED)
    public static let outOfResources = Status(BH_OUT_OF_RESOURCES)
    public static let `internal` = Status(BH_INTERNAL)
    public static let daemonUnavailable = Status(BH_DAEMON_UNAVAILABLE)
    public static let cancelled = Status(BH_CANCELLED)
    public static let nameNotResolved = Status(BH_NAME_NOT_RESOLVED)
    public static let connectionFailed = Status(BH_CONNECTION_FAILED)
    public static let connectionLost = Status(BH_CONNECTION_LOST)
    public static let requestTimeout = Status(BH_REQUEST_TIMEOUT)
    public static let resourceTimeout = Status(BH_RESOURCE_TIMEOUT)
    public static let tlsFailed = Status(BH_TLS_FAILED)
    public static let httpStatus = Status(BH_HTTP_STATUS)
    public static let redirectRefused = Status(BH_REDIRECT_REFUSED)
    public static let badResponse = Status(BH_BAD_RESPONSE)
    public static let destinationExists = Status(BH_DESTINATION_EXISTS)
    public static let destinationUnavailable = Status(BH_DESTINATION_UNAVAILABLE)
    public static let diskFull = Status(BH_DISK_FULL)
    public static let diskFailed = Status(BH_DISK_FAILED)
    public static let tooLarge = Status(BH_TOO_LARGE)
    public static let authenticationRequired = Status(BH_AUTHENTICATION_REQUIRED)
    public static let checksumMismatch = Status(BH_CHECKSUM_MISMATCH)
    public static let sizeMismatch = Status(BH_SIZE_MISMATCH)
    public static let bodyUnavailable = Status(BH_BODY_UNAVAILABLE)
    public static let bodyChanged = Status(BH_BODY_CHANGED)
    public static let tlsTruncated = Status(BH_TLS_TRUNCATED)

    private init(_ constant: Int) { rawValue = Int32(constant) }
}
