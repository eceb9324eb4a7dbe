internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

extension Failure {
    /// A failed system call on a file as hosts see it.
    static func disk(_ error: SystemError, _ path: String) -> Failure {
        let sentence = "\(error.attempt) \(path): \(error.reason)"
        return switch error.code {
        case ENOSPC, EDQUOT: .system(.diskFull, code: error.code, sentence + "; free some space on its file system.")
        case EIO, EUCLEAN: .system(.diskFailed, code: error.code, sentence + "; check the disk.")
        case EMFILE, ENFILE, ENOMEM: .system(.outOfResources, code: error.code, sentence + ".")
        case EEXIST: .system(
            .destinationExists, code: error.code,
            "A file with the name \(path) is already there; remove it, or ask for it to be replaced.")
        case EACCES, EPERM: .system(
            .destinationUnavailable, code: error.code, sentence + "; check the permissions of its directory.")
        default: .system(.destinationUnavailable, code: error.code, sentence + ".")
        }
    }

    static func changedByOthers(_ path: String) -> Failure {
        Failure(
            .destinationUnavailable,
            "The part file of \(path) was changed or removed by another program; the download must start again.")
    }
}
