public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// How far the finishing of a file had come before a crash.
public enum Placement: Equatable, Sendable {
    /// It has its final name; whether the name is on the disk is for `PartFile.place` to make sure.
    case placed
    /// The sealed part file waits for its final name.
    case partThere
    case gone

    /// Looks at once, on the calling thread. Fails when the directory cannot be looked at, which says nothing about the
    /// file: its disk may not be mounted yet.
    public static func look(_ location: PartLocation, _ intent: FinishIntent) throws(Failure) -> Placement {
        let files = FileSystem()
        var directories = Directories(files: files)
        let directory = try directories.directory(of: location.destination)
        return try Placing(files: files, location: location, intent: intent).look(in: directory)
    }
}

/// Gives a sealed part file its final name, or finds that this was done before a crash.
struct Placing {
    let files: FileSystem
    let location: PartLocation
    let intent: FinishIntent

    private var name: String { intent.name ?? location.destination.name }
    var path: String { intent.name.map { location.destination.path + $0 } ?? location.destination.path }

    /// Everything but the sync of the directory.
    func rename(in directory: OpenDirectory) throws(Failure) -> FileStamp {
        do throws(SystemError) {
            if let part = try files.status(in: directory.number, location.partName), isIntended(part) {
                // Linked before a crash, its old name not yet removed; to rename(2) that is already done.
                if part.linkCount > 1, let final = try files.status(in: directory.number, name), isIntended(final) {
                    try files.remove(location.partName, in: directory.number)
                } else {
                    try files.rename(
                        location.partName, in: directory.number, to: name, in: directory.number,
                        replace: location.replace)
                }
                return FileStamp(part)
            }
            if let final = try files.status(in: directory.number, name), isIntended(final) { return FileStamp(final) }
        } catch {
            throw error.code == EEXIST ? .exists(path) : .disk(error, path)
        }
        throw .changedByOthers(path)
    }

    func look(in directory: OpenDirectory) throws(Failure) -> Placement {
        do throws(SystemError) {
            if let final = try files.status(in: directory.number, name), isIntended(final) { return .placed }
            if let part = try files.status(in: directory.number, location.partName), isIntended(part) {
                return .partThere
            }
            return .gone
        } catch {
            throw .disk(error, path)
        }
    }

    private func isIntended(_ status: FileStatus) -> Bool {
        status.isRegular && [0, status.device].contains(intent.device) && status.inode == intent.inode
            && status.size == intent.size
    }
}
