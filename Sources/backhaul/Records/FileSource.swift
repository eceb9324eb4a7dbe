import Backhaul

/// Where a successful download found its file, if it received no new file.
enum FileSource: CustomStringConvertible {
    /// The server stated that the file of an earlier download has not changed (status 304).
    case unchanged
    /// The file existed and matched the given checksum and size, so no request was sent.
    case existing

    /// The word that follows the state in listings.
    var description: String { self == .unchanged ? "unchanged" : "existing" }

    /// A sentence about the file.
    func sentence(_ path: String) -> String {
        switch self {
        case .unchanged: "\(path) has not changed on the server, so it was not downloaded again."
        case .existing: "\(path) exists already and is as requested, so it was not downloaded."
        }
    }
}

extension TaskEnding {
    /// Where a successful download found its file, if it received no new file.
    var source: FileSource? {
        guard state == .succeeded, kind == .download else { return nil }
        return httpStatus == 304 ? .unchanged : attempts == 0 ? .existing : nil
    }

    var state: TaskState {
        switch outcome {
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }
}
