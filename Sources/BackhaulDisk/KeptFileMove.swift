internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Moves a kept file to the destination that its claim names, once. Every step may be repeated after a crash. Across
/// file systems it is copied in slices, so that the other work of its disk thread goes on in between.
final class KeptFileMove {
    enum Progress {
        case moved
        case copying
    }

    private static let sliceSize = 4 << 20

    private let kept: KeptFile
    private let target: PartLocation
    private let size: UInt64
    private let files: FileSystem
    private var source: Descriptor?
    private var copy: Descriptor?
    private var copied: UInt64 = 0
    private var buffer: [UInt8] = []

    init(from path: String, to target: PartLocation, size: UInt64, files: FileSystem) {
        kept = KeptFile(path: path, files: files)
        self.target = target
        self.size = size
        self.files = files
    }

    /// Does the next piece of the work.
    func advance(_ directories: inout DirectoryCache) throws(Failure) -> Progress {
        let directory = try directories.descriptor(of: target.destination)
        do throws(SystemError) {
            return copy == nil ? try start(directory) : try continueCopy(directory)
        } catch where error.code == Self.gone {
            throw Failure(
                .notFound, "The kept file \(kept.path) is gone, and it is not at \(target.destination.path) either.")
        } catch {
            throw .disk(error, target.destination.path)
        }
    }

    /// Not an errno.
    private static let gone: Int32 = -1

    private func start(_ directory: Descriptor) throws(SystemError) -> Progress {
        let name = target.destination.name
        guard let status = try files.status(in: AT_FDCWD, kept.path) else {
            // Moved before a crash, if anything of the right size is there.
            guard let final = try files.status(in: directory.number, name), final.isRegular, final.size == size else {
                throw SystemError(code: Self.gone, attempt: "")
            }
            try files.syncDirectory(directory.number)
            return .moved
        }
        let source = try files.openForReading(kept.path)
        self.source = source
        do {
            try files.changeMode(source.number, target.mode)
            try files.sync(source.number)
            try files.rename(kept.path, in: AT_FDCWD, to: name, in: directory.number, replace: target.replace)
            try files.syncDirectory(directory.number)
            try kept.syncDirectory()
            return .moved
        } catch where error.code == EXDEV {
            if !target.replace, let final = try files.status(in: directory.number, name) {
                // Copied before a crash, the kept file not yet removed: only then are they alike.
                guard final.isRegular, final.size == status.size, try isCopy(name, in: directory) else {
                    throw SystemError(code: EEXIST, attempt: FileOperation.rename.attempt)
                }
                return try removeSource(directory)
            }
            try files.remove(target.partName, in: directory.number)
            copy = try files.create(in: directory.number, target.partName)
            buffer = [UInt8](repeating: 0, count: Self.sliceSize)
            return .copying
        } catch where error.code == EEXIST {
            // Linked before a crash on a file system without RENAME_NOREPLACE.
            guard let final = try files.status(in: directory.number, name), final.isSameFile(as: status) else {
                throw error
            }
            return try removeSource(directory)
        }
    }

    private func continueCopy(_ directory: Descriptor) throws(SystemError) -> Progress {
        guard let source, let copy else { return .copying }
        do {
            let count = try files.read(source.number, into: &buffer, at: copied)
            if count > 0 {
                try files.write(copy.number, buffer[..<count], at: copied)
                copied += UInt64(count)
                return .copying
            }
            try files.changeMode(copy.number, target.mode)
            try files.sync(copy.number)
            try files.rename(
                target.partName, in: directory.number, to: target.destination.name, in: directory.number,
                replace: target.replace)
        } catch {
            try? files.remove(target.partName, in: directory.number)
            throw error
        }
        return try removeSource(directory)
    }

    private func removeSource(_ directory: Descriptor) throws(SystemError) -> Progress {
        // The new name is on the disk before the old one goes.
        try files.syncDirectory(directory.number)
        try files.remove(kept.path, in: AT_FDCWD)
        try kept.syncDirectory()
        return .moved
    }

    private func isCopy(_ name: String, in directory: Descriptor) throws(SystemError) -> Bool {
        guard let source else { return false }
        let final = try files.open(in: directory.number, name)
        var ours = [UInt8](repeating: 0, count: Self.sliceSize)
        var theirs = ours
        var offset: UInt64 = 0
        while true {
            let count = try files.read(source.number, into: &ours, at: offset)
            guard try files.read(final.number, into: &theirs, at: offset) == count, ours[..<count] == theirs[..<count]
            else { return false }
            if count == 0 { return true }
            offset += UInt64(count)
        }
    }
}
