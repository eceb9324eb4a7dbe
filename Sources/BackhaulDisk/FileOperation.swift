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
        case .open: "cannot open"
        case .create: "cannot create"
        case .read: "cannot read"
        case .write: "cannot write"
        case .truncate: "cannot shorten"
        case .changeMode: "cannot set the permissions of"
        case .changeTimes: "cannot set the times of"
        case .startWriteBack: "cannot write back"
        case .sync, .syncFileSystem: "cannot sync"
        case .status: "cannot read the status of"
        case .space: "cannot read the free space at"
        case .rename, .link: "cannot give its final name to"
        case .copy: "cannot copy"
        case .unlink: "cannot remove"
        case .openDirectory: "cannot open the directory of"
        case .syncDirectory: "cannot sync the directory of"
        }
    }
}
