/// What the process ends with. A contract: see docs/command-line.md.
enum ExitCode: Int32, CaseIterable {
    case done = 0
    case transferFailed = 1
    case usage = 2
    case notFound = 3
    case refused = 4
    case tryAgainLater = 5
    case storeUnusable = 6
    case libraryFailed = 7

    var meaning: String {
        switch self {
        case .done: "everything that was asked for is done"
        case .transferFailed: "a transfer failed or was cancelled, or output could not be written"
        case .usage: "the command line is wrong: an option, a URL, a header, a path"
        case .notFound: "there is no such session or task"
        case .refused: "the destination cannot be used: a file or another transfer is in the way"
        case .tryAgainLater: "not now: the session is in use, the time ran out, no answer, no space"
        case .storeUnusable: "the store cannot be used: unavailable, read-only, damaged, newer, on a network"
        case .libraryFailed: "a defect of the library, or a library of another version"
        }
    }
}
