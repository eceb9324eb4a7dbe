import Backhaul

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
    var status: Status {
        switch self {
        case .done: .ok
        case .usage: .invalidArgument
        case .notFound, .endUnknown: .notFound
        case .refused: .wrongState
        case .tryAgainLater: .timeout
        case .storeUnusable: .storeUnavailable
        case .credentialNeeded: .authenticationRequired
        case .transferFailed, .libraryFailed: .internal
        }
    }

    /// The exit code for a status of the library.
    init(_ status: Status) {
        self =
            switch status {
            case .ok, .started: .done
            case .invalidArgument, .bodyUnavailable: .usage
            case .notFound: .notFound
            case .alreadyExists, .keyConflict, .destinationInUse, .wrongState, .wrongRole,
                .invalidated, .eventsOutstanding, .destinationExists, .destinationUnavailable:
                .refused
            case .inUse, .timeout, .tooMany, .storeFull, .engineUnresponsive, .outOfResources,
                .diskFull, .completed, .storageAway:
                .tryAgainLater
            case .storeUnavailable, .storeReadOnly, .storeDamaged, .storeNewer,
                .storeOnNetworkFileSystem, .daemonUnavailable:
                .storeUnusable
            case .cancelled, .nameNotResolved, .connectionFailed, .connectionLost, .requestTimeout,
                .resourceTimeout, .tlsFailed, .tlsTruncated, .httpStatus, .redirectRefused,
                .badResponse, .diskFailed, .tooLarge, .authenticationRequired, .checksumMismatch,
                .sizeMismatch, .unexpectedType, .bodyChanged, .addressRefused,
                .dependencyFailed:
                .transferFailed
            default: .libraryFailed
            }
    }
}
