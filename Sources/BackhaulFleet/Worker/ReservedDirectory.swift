internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The directory of a worker, below which it places no files. A file of a host could replace its store or its identity.
struct ReservedDirectory {
    var path: String

    /// Throws if the destination is below the reserved directory. If its directory cannot be opened now, the
    /// publication reports this.
    func check(_ destination: String) throws(Failure) {
        let opened = bhl_open(Destination.directory(of: destination), O_RDONLY | O_DIRECTORY, 0)
        guard opened >= 0 else { return }
        defer { close(opened) }
        if contains(opened) == true { throw Self.refusal(of: destination) }
    }

    /// Returns whether the open directory is the reserved one, or below it; nil, with errno, if its parents cannot be
    /// read. The function compares these parents, because symbolic links of the path may change.
    func contains(_ directory: Int32) -> Bool? {
        let reserved = FileIdentity(at: path)
        var parent = "."
        var place = FileIdentity(at: parent, from: directory)
        while let here = place, here != reserved {
            parent += "/.."
            place = FileIdentity(at: parent, from: directory)
            // The root directory is its own parent.
            if place == here { return false }
        }
        return place.map { _ in true }
    }

    static func refusal(of destination: String) -> Failure {
        Failure(
            .invalidArgument,
            "the destination \(destination) lies in the directory of the worker; choose a directory outside of it")
    }
}
