internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Moves a kept file to the path that the host (the program that uses the library) gives. A kept file is a finished
/// download that is in the store (the engine's directory), because the host gave no path before. Each step can be
/// repeated after a crash. For a move to another file system, the file is copied in slices, so that the disk thread can
/// do other work between the slices.
final class KeptFileMove {
    enum Progress {
        case moved
        case copying
        case gone
        case blocked
    }

    private static let sliceSize = 4 << 20

    private let kept: SplitPath
    private let keptPath: String
    private let target: PartLocation
    private let size: UInt64
    private let files: FileSystem
    private var source: Descriptor?
    private var copy: Descriptor?
    private var copied: UInt64 = 0
    private var buffer: [UInt8] = []

    init(from path: String, to target: PartLocation, size: UInt64, files: FileSystem) {
        kept = SplitPath(path)
        keptPath = path
        self.target = target
        self.size = size
        self.files = files
    }

    /// Performs the next step. Returns false if more steps follow.
    func advance(_ directories: inout DirectoryCache) throws(Failure) -> Bool {
        let from = try directories.directory(at: kept.directory)
        let to = try directories.directory(of: target.destination)
        let progress: Progress
        do throws(SystemError) {
            progress = copy == nil ? try start(from, to) : try continueCopy(from, to)
        } catch {
            throw .disk(error, target.destination.path)
        }
        switch progress {
        case .moved: return true
        case .copying: return false
        case .blocked: throw .exists(target.destination.path)
        case .gone:
            throw Failure(
                .notFound, "The kept file \(keptPath) is gone, and it is not at \(target.destination.path) either.")
        }
    }

    private func start(_ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Progress {
        let name = target.destination.name
        let final = try files.status(in: to.number, name)
        guard let status = try files.status(in: from.number, kept.name), status.isRegular else {
            // If the kept file is missing, a file of the same size at the new path counts as the kept file. It was
            // probably moved there before a crash.
            guard let final, final.isRegular, final.size == size else { return .gone }
            try files.syncDirectory(to.number)
            return .moved
        }
        let source = try files.open(in: from.number, kept.name)
        self.source = source
        if let final, final.isSameFile(as: status) {
            let isOneName = from.status.isSameFile(as: to.status) && name == kept.name
            if isOneName || final.linkCount == 1 { return .moved }
            // The file has both names: the new name was made as a hard link, and then the engine crashed. Hard links
            // are used on file systems without RENAME_NOREPLACE.
            return try removeSource(from, to)
        }
        try files.changeMode(source.number, target.mode)
        try files.sync(source.number)
        do {
            try files.rename(kept.name, in: from.number, to: name, in: to.number, replace: target.replace)
        } catch where error.code == EEXIST {
            return .blocked
        } catch where error.code == EXDEV {
            if !target.replace, let final {
                // If the file at the new path has the same content, it is a copy that was made before a crash.
                guard final.isRegular, final.size == status.size, try isCopy(name, in: to) else { return .blocked }
                return try removeSource(from, to)
            }
            try files.remove(target.partName, in: to.number)
            copy = try files.create(in: to.number, target.partName)
            buffer = [UInt8](repeating: 0, count: KeptFileMove.sliceSize)
            return .copying
        }
        try files.syncDirectory(to.number)
        try files.syncDirectory(from.number)
        return .moved
    }

    private func continueCopy(_ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Progress {
        guard let source, let copy else { return .gone }
        do {
            let count = try files.read(source.number, into: &buffer, at: copied)
            if count > 0 {
                try files.write(copy.number, buffer[..<count], at: copied)
                files.startWriteBack(copy.number)
                copied += UInt64(count)
                return .copying
            }
            try files.changeMode(copy.number, target.mode)
            try files.sync(copy.number)
            try files.rename(
                target.partName, in: to.number, to: target.destination.name, in: to.number, replace: target.replace)
        } catch {
            try? files.remove(target.partName, in: to.number)
            if error.code == EEXIST { return .blocked }
            throw error
        }
        return try removeSource(from, to)
    }

    private func removeSource(_ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Progress {
        // The new name is synced before the old name is removed.
        try files.syncDirectory(to.number)
        try files.remove(kept.name, in: from.number)
        try files.syncDirectory(from.number)
        return .moved
    }

    private func isCopy(_ name: String, in directory: OpenDirectory) throws(SystemError) -> Bool {
        guard let source else { return false }
        let final = try files.open(in: directory.number, name)
        var ours = [UInt8](repeating: 0, count: KeptFileMove.sliceSize)
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
