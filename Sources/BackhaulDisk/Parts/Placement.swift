internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Whether a downloaded file had got its final name before the engine, which runs the downloads, crashed.
public enum Placement: Equatable, Sendable {
    /// The file has its final name. `PartFile.place` must still be called, to sync the directory.
    case placed
    /// The complete file exists under its temporary name (as a part file), but does not have its final name yet.
    case partExists
    case absent
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
        let replaced = location.replace ? try replacedFile(in: directory) : nil
        do throws(SystemError) {
            if let part = try files.status(in: directory.number, location.partName),
                try isSealed(part, location.partName, in: directory)
            {
                // If the file has both names, it was linked before a crash, and its old name was not removed. Here
                // rename(2) would do nothing, because both names belong to the same file.
                if part.linkCount > 1, let final = try files.status(in: directory.number, name),
                    final.isSameFile(as: part)
                {
                    try files.remove(location.partName, in: directory.number)
                } else {
                    if location.replace { try setAttributes(of: part, from: replaced, in: directory) }
                    try files.rename(
                        location.partName, in: directory.number, to: name, in: directory.number,
                        replace: location.replace)
                }
                return FileStamp(part)
            }
            if let final = try files.status(in: directory.number, name), try isSealed(final, name, in: directory) {
                return FileStamp(final)
            }
        } catch {
            throw error.code == EEXIST ? .exists(path) : .disk(error, path)
        }
        throw .changedExternally(path)
    }

    /// Whether this is the sealed file. After a remount it may have another device and inode, so that only its bytes
    /// identify it.
    private func isSealed(_ status: FileStatus, _ name: String, in directory: OpenDirectory) throws(SystemError) -> Bool
    {
        if status.matches(intent) { return true }
        guard status.isRegular, status.size == intent.size, let expected = intent.checksum else { return false }
        let file = try files.openForReading(in: directory.number, name)
        var (checksum, offset): (UInt32, UInt64) = (0, 0)
        while true {
            let bytes = try files.read(file.number, count: PartDigest.sliceSize, at: offset)
            guard !bytes.isEmpty else { return checksum == expected && offset == intent.size }
            checksum = bytes.withUnsafeBytes { bhl_crc32c(checksum, $0.baseAddress, $0.count) }
            offset += UInt64(bytes.count)
        }
    }

    private func replacedFile(in directory: OpenDirectory) throws(Failure) -> FileStatus? {
        let found: FileStatus?
        do throws(SystemError) {
            found = try files.status(in: directory.number, name)
        } catch {
            throw .disk(error, path)
        }
        guard let found else { return nil }
        try SpecialFile.check(found, at: path, files)
        try CaseTwin.check(at: path, files)
        return found.isRegular && !found.matches(intent) ? found : nil
    }

    /// The seal does not set the attributes of the replaced file, because that file may change until now.
    private func setAttributes(
        of part: FileStatus, from replaced: FileStatus?, in directory: OpenDirectory
    ) throws(SystemError) {
        guard let replaced else {
            let mode = directory.newFileMode(location.mode)
            // If this fails, the file has fewer permissions than it could have, or the file system has no permissions.
            if part.mode != mode { try? files.changeMode(in: directory.number, location.partName, mode) }
            return
        }
        let file = try files.open(in: directory.number, ownNamed: location.partName)
        try files.copyAttributes(of: replaced, named: name, in: directory.number, to: file, part, location.mode)
    }

    func inspect(in directory: OpenDirectory) throws(Failure) -> Placement {
        do throws(SystemError) {
            let final = try files.status(in: directory.number, name)
            let part = try files.status(in: directory.number, location.partName)
            if let final, final.matches(intent) { return .placed }
            if let part, try isSealed(part, location.partName, in: directory) { return .partExists }
            guard let final else { return .absent }
            // Another program's file may be unreadable.
            let isPlaced = try files.ifReachable { () throws(SystemError) in
                try isSealed(final, name, in: directory)
            }
            return isPlaced == true ? .placed : .absent
        } catch {
            throw .disk(error, path)
        }
    }
}
