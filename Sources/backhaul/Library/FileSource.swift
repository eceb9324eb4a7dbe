import CBackhaul

/// Where a successful download found its file, if it received no new file.
enum FileSource: CustomStringConvertible {
    /// The server stated that the file of an earlier download has not changed (status 304).
    case unchanged
    /// The file existed and matched the given checksum and size, so no request was sent.
    case existing

    /// Nil if the task received a file, is an upload, or has not succeeded.
    init?(state: Int32, isUpload: Bool, httpStatus: Int32, attempts: UInt32) {
        guard Int(state) == BH_TASK_SUCCEEDED, !isUpload else { return nil }
        if httpStatus == 304 {
            self = .unchanged
        } else if attempts == 0 {
            self = .existing
        } else {
            return nil
        }
    }

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
