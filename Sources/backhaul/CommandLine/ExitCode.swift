import CBackhaul

/// The exit codes of the process. Scripts depend on them. docs/command-line.md lists them.
enum ExitCode: Int32, CaseIterable {
    case done = 0
    case transferFailed = 1
    case usage = 2
    case notFound = 3
    case refused = 4
    case tryAgainLater = 5
    case storeUnusable = 6
    case libraryFailed = 7
    case credentialNeeded = 8
    case endUnknown = 9

    var meaning: String {
        switch self {
        case .done: "the command succeeded"
        case .transferFailed: "a transfer failed or was cancelled, or output could not be written"
        case .usage: "the command line is wrong: an option, a URL, a header, a path"
        case .notFound: "there is no such session or task"
        case .refused: "the destination cannot be used: a file or another transfer is in the way"
        case .tryAgainLater: "try later: the session is in use, the time ran out, no reply, no space"
        case .storeUnusable: "the store cannot be used: unavailable, read-only, damaged, too new, or no daemon"
        case .libraryFailed: "a defect of the library, or a library of another version"
        case .credentialNeeded: "the remaining transfers wait for a credential: see `challenges` and `respond`"
        case .endUnknown: "another process acknowledged a transfer's end, and its file is not complete"
        }
    }
}

extension ExitCode {
    /// The status, in JSON, of an error that the command itself found.
    var status: bh_status {
        let status =
            switch self {
            case .done: BH_OK
            case .usage: BH_INVALID_ARGUMENT
            case .notFound, .endUnknown: BH_NOT_FOUND
            case .refused: BH_WRONG_STATE
            case .tryAgainLater: BH_TIMEOUT
            case .storeUnusable: BH_STORE_UNAVAILABLE
            case .credentialNeeded: BH_AUTHENTICATION_REQUIRED
            case .transferFailed, .libraryFailed: BH_INTERNAL
            }
        return bh_status(status)
    }

    /// The exit code for a status of the library.
    init(_ status: Int) {
        self =
            switch status {
            case BH_INVALID_ARGUMENT, BH_BODY_UNAVAILABLE: .usage
            case BH_NOT_FOUND: .notFound
            case BH_ALREADY_EXISTS, BH_KEY_CONFLICT, BH_DESTINATION_IN_USE, BH_WRONG_STATE, BH_WRONG_ROLE,
                BH_INVALIDATED, BH_EVENTS_OUTSTANDING, BH_DESTINATION_EXISTS, BH_DESTINATION_UNAVAILABLE:
                .refused
            case BH_IN_USE, BH_TIMEOUT, BH_TOO_MANY, BH_STORE_FULL, BH_ENGINE_UNRESPONSIVE, BH_OUT_OF_RESOURCES,
                BH_DISK_FULL, BH_COMPLETED:
                .tryAgainLater
            case BH_STORE_UNAVAILABLE, BH_STORE_READ_ONLY, BH_STORE_DAMAGED, BH_STORE_NEWER,
                BH_STORE_ON_NETWORK_FILE_SYSTEM, BH_DAEMON_UNAVAILABLE:
                .storeUnusable
            case BH_CANCELLED, BH_NAME_NOT_RESOLVED, BH_CONNECTION_FAILED, BH_CONNECTION_LOST, BH_REQUEST_TIMEOUT,
                BH_RESOURCE_TIMEOUT, BH_TLS_FAILED, BH_TLS_TRUNCATED, BH_HTTP_STATUS, BH_REDIRECT_REFUSED,
                BH_BAD_RESPONSE, BH_DISK_FAILED, BH_TOO_LARGE, BH_AUTHENTICATION_REQUIRED, BH_CHECKSUM_MISMATCH,
                BH_SIZE_MISMATCH, BH_BODY_CHANGED:
                .transferFailed
            default: .libraryFailed
            }
    }
}
