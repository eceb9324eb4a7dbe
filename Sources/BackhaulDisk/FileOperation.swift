/// The purposes of this module's system calls. Tests use them to choose which call fails.
enum FileOperation: Sendable {
    case open
    case create
    case read
    case write
    case truncate
    case changeMode
    case changeTimes
    case startWriteBack
    case sync
    case syncFileSystem
    case status
    case space
    case rename
    case link
    case copy
    case unlink
    case openDirectory
    case syncDirectory

    /// The beginning of an error message. A path follows it.
    var messageStart: String {
        switch self {
        case .open: "Cannot open"
        case .create: "Cannot create"
        case .read: "Cannot read"
        case .write: "Cannot write"
        case .truncate: "Cannot shorten"
        case .changeMode: "Cannot set the permissions of"
        case .changeTimes: "Cannot set the times of"
        case .startWriteBack: "Cannot write back"
        case .sync, .syncFileSystem: "Cannot sync"
        case .status: "Cannot read the status of"
        case .space: "Cannot read the free space at"
        case .rename, .link: "Cannot give its final name to"
        case .copy: "Cannot copy"
        case .unlink: "Cannot remove"
        case .openDirectory: "Cannot open the directory of"
        case .syncDirectory: "Cannot sync the directory of"
        }
    }
}
