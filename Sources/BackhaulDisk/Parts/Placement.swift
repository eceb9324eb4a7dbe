public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Whether a downloaded file had got its final name before the engine, which runs the downloads, crashed.
public enum Placement: Equatable, Sendable {
    /// The file has its final name. `PartFile.place` must still be called, to sync the directory.
    case placed
    /// The complete file exists under its temporary name (as a part file), but does not have its final name yet.
    case partExists
    case absent

    /// Checks the file on the calling thread. Throws when the directory cannot be read. Such an error does not prove
    /// that the file is missing: its disk may be mounted later.
    public static func inspect(_ location: PartLocation, _ intent: FinishIntent) throws(Failure) -> Placement {
        let files = FileSystem()
        var directories = DirectoryCache(files: files)
        let directory = try directories.directory(of: location.destination)
        return try PlaceOperation(files: files, location: location, intent: intent).inspect(in: directory)
    }
}

/// Renames a sealed (complete and synced) part file to its final name, or finds that the file was renamed before a
/// crash.
struct PlaceOperation {
    let files: FileSystem
    let location: PartLocation
    let intent: FinishIntent

    private var name: String { intent.name ?? location.destination.name }
    var path: String { intent.name.map { location.destination.path + $0 } ?? location.destination.path }

    /// Renames the file. The caller then syncs the directory.
    func rename(in directory: OpenDirectory) throws(Failure) -> FileStamp {
        do throws(SystemError) {
            if let part = try files.status(in: directory.number, location.partName), part.matches(intent) {
                // If the file has both names, it was linked before a crash, and its old name was not removed. Here
                // rename(2) would do nothing, because both names belong to the same file.
                if part.linkCount > 1, let final = try files.status(in: directory.number, name), final.matches(intent) {
                    try files.remove(location.partName, in: directory.number)
                } else {
                    try files.rename(
                        location.partName, in: directory.number, to: name, in: directory.number,
                        replace: location.replace)
                }
                return FileStamp(part)
            }
            if let final = try files.status(
                in: directory.number, name), final.matches(intent)
            {
                return FileStamp(final)
            }
        } catch {
            throw error.code == EEXIST ? .exists(path) : .disk(error, path)
        }
        throw .changedExternally(path)
    }

    func inspect(in directory: OpenDirectory) throws(Failure) -> Placement {
        do throws(SystemError) {
            if let final = try files.status(in: directory.number, name), final.matches(intent) { return .placed }
            if let part = try files.status(in: directory.number, location.partName), part.matches(intent) {
                return .partExists
            }
            return .absent
        } catch {
            throw .disk(error, path)
        }
    }
}
