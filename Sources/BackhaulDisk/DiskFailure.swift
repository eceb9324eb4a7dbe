internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

extension Failure {
    /// Returns the failure for a failed system call on a file. `subject` names the file in the message, for example
    /// "/home/me/song.flac".
    static func disk(_ error: SystemError, _ subject: String) -> Failure {
        let sentence = "\(error.messageStart) \(subject): \(error.reason)"
        return switch error.code {
        case ENOSPC where error.lacksInodes:
            .system(
                .diskFull, code: error.code,
                "\(error.messageStart) \(subject): its file system has no free inodes, because it has too many files; "
                    + "remove some files from it")
        case ENOSPC, EDQUOT: .system(.diskFull, code: error.code, sentence + "; free some space on its file system")
        case EIO, EUCLEAN: .system(.diskFailed, code: error.code, sentence + "; check the disk")
        case EBADF:
            .system(
                .diskFailed, code: error.code,
                "\(error.messageStart) \(subject): the program closed a descriptor of the library; it must "
                    + "not change them")
        // The server of a network share or of a FUSE file system has gone or does not respond, or the device was
        // unplugged.
        case ENOTCONN, ECONNABORTED, ESTALE, ENODEV, ENXIO, ESHUTDOWN, EHOSTDOWN, EREMOTEIO, ETIMEDOUT, EHOSTUNREACH,
            ENETUNREACH, EINTR, EAGAIN:
            .system(.storageAway, code: error.code, sentence + "; the file system is away")
        // Many kernels make a file system read-only after a failure, until it is mounted again.
        case EROFS: .system(.storageAway, code: error.code, sentence + "; mount the file system with write access")
        case EMFILE, ENFILE, ENOMEM: .system(.outOfResources, code: error.code, sentence)
        case EBUSY:
            .system(
                .destinationUnavailable, code: error.code,
                sentence + "; it is a mount point, or another program uses it; unmount it or choose another path")
        case EACCES, EPERM:
            .system(
                .destinationUnavailable, code: error.code, sentence + "; check the permissions of its directory")
        default: .system(.destinationUnavailable, code: error.code, sentence)
        }
    }

    /// The directory is missing, or on another file system. `fileSystem`: the file system that it was on.
    static func away(_ directory: String, from fileSystem: String?) -> Failure {
        let place = fileSystem.map { " on the file system \($0)" } ?? ""
        return .system(
            .storageAway, code: ENODEV,
            "the directory \(directory)\(place) is away; mount the file system, or make the directory again")
    }

    /// Whether this is the failure that `away` returns.
    var isOfMissingDirectory: Bool { status == .storageAway && detail == Int64(ENODEV) }

    static func exists(_ path: String) -> Failure {
        .system(
            .destinationExists, code: EEXIST,
            "a file with the name \(path) exists already; remove it, or give if_exists BH_IF_EXISTS_REPLACE")
    }

    static func changedExternally(_ path: String) -> Failure {
        Failure(
            .diskFailed,
            "the part file of \(path) was changed or removed by another program; the download must start again")
    }
}
