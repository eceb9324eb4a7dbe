internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Moves a kept file to the path that the host gives. A kept file is a finished download that is in the store, because
/// the host gave no path before. Each step can be repeated after a crash. For a move to another file system, the file
/// is copied in slices, so that the disk thread can do other work between the slices.
///
/// Before a file gets the name at the new path, its identity is recorded (the *intent*). After a crash, only the file
/// with this identity counts as the moved file. The kept file is never removed for a file of another program.
final class KeptFileMove {
    enum Step {
        case moved
        /// More steps follow.
        case more
        /// The caller must record the intent, and then perform the next step.
        case record(FinishIntent)
    }

    private enum Subject {
        case keptFile
        case copy
    }

    private enum Progress {
        case step(Step)
        case gone
        case refused(Failure)
    }

    private static let sliceSize = 4 << 20

    private let kept: SplitPath
    private let keptPath: String
    private let target: PartLocation
    private let files: FileSystem
    /// The recorded identity of the file that gets the new name: the kept file, or its copy on another file system.
    private var intent: FinishIntent?
    /// The file whose identity this move has recorded.
    private var recorded: Subject?
    private var source: Descriptor?
    private var copy: Descriptor?
    private var copied: UInt64 = 0

    init(from path: String, to target: PartLocation, intent: FinishIntent?, files: FileSystem) {
        kept = SplitPath(path)
        keptPath = path
        self.target = target
        self.intent = intent
        self.files = files
    }

    /// Performs the next step.
    func advance(_ directories: inout DirectoryCache) throws(Failure) -> Step {
        let from = try directories.directory(at: kept.directory)
        let to = try directories.directory(of: target.destination)
        let progress: Progress
        do throws(SystemError) {
            progress = copy == nil ? try start(from, to) : try continueCopy(from, to)
        } catch {
            throw .disk(error, target.destination.path)
        }
        switch progress {
        case .step(let step): return step
        case .refused(let failure): throw failure
        case .gone:
            throw Failure(
                .notFound, "the kept file \(keptPath) is gone, and it is not at \(target.destination.path) either")
        }
    }

    /// Removes the copy, because its intent could not be recorded.
    func removeCopy(_ directories: inout DirectoryCache) {
        guard copy != nil, let to = try? directories.directory(of: target.destination) else { return }
        try? files.remove(target.partName, in: to.number)
    }

    private func start(_ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Progress {
        let name = target.destination.name
        let final = try files.status(in: to.number, name)
        guard let status = try files.status(in: from.number, kept.name), status.isRegular else {
            guard let final, matchesIntent(final) else { return .gone }
            // The file was moved before a crash, perhaps without the syncs of the two directories.
            try files.syncDirectory(to.number)
            try files.syncDirectory(from.number)
            return .step(.moved)
        }
        if let final, final.isSameFile(as: status) {
            let isOneName = from.status.isSameFile(as: to.status) && name == kept.name
            if isOneName || final.linkCount == 1 { return .step(.moved) }
            // The file has both names: the new name was made as a hard link, and then the engine crashed. Hard links
            // are used on file systems without RENAME_NOREPLACE.
            return try removeSource(from, to)
        }
        if recorded == nil {
            // The intent of a copy was recorded, and the copy got its name before a crash.
            if let final, !matchesIntent(status), matchesIntent(final) { return try removeSource(from, to) }
            // An interrupted claim may have recorded the kept file with another path.
            return .step(record(.keptFile, status, to))
        }
        let isRename = from.status.device == to.status.device
        let renamed = isRename ? (name: kept.name, directory: from) : (name: target.partName, directory: to)
        if let final, let failure = try refusal(final, for: renamed.name, in: renamed.directory, to) {
            return .refused(failure)
        }
        let source = try files.open(in: from.number, ownNamed: kept.name)
        self.source = source
        do {
            if isRename { try setAttributes(of: source, status, replacing: final, in: to) }
            try files.rename(kept.name, in: from.number, to: name, in: to.number, replace: target.replace)
        } catch {
            // The kept file stays in the store, so it must not have the mode of the file that it should replace.
            if isRename { try? files.changeMode(source.number, status.mode) }
            guard error.code == EXDEV else {
                if error.code == EEXIST { return .refused(.exists(target.destination.path)) }
                throw error
            }
            try files.remove(target.partName, in: to.number)
            copy = try files.create(in: to.number, target.partName)
            return .step(.more)
        }
        try files.syncDirectory(to.number)
        try files.syncDirectory(from.number)
        return .step(.moved)
    }

    /// Why the existing file at the new path is not replaced; nil if it may be replaced. `source` and `directory`: the
    /// present name and directory of the file that gets the new path.
    private func refusal(
        _ final: FileStatus, for source: String, in directory: OpenDirectory, _ to: OpenDirectory
    ) throws(SystemError) -> Failure? {
        let path = target.destination.path
        guard target.replace else {
            // A crash may have left the placeholder of this move, which `FileSystem.rename` replaces.
            let isPlaceholder = try files.isPlaceholder(
                for: source, in: directory.number, named: target.destination.name, in: to.number)
            return isPlaceholder ? nil : .exists(path)
        }
        do throws(Failure) {
            try SpecialFile.check(final, at: path, files)
            return nil
        } catch {
            return error
        }
    }

    private func setAttributes(
        of file: Descriptor, _ status: FileStatus, replacing final: FileStatus?, in to: OpenDirectory
    ) throws(SystemError) {
        if target.replace, let final, final.isRegular {
            let name = target.destination.name
            try files.copyAttributes(of: final, named: name, in: to.number, to: file, status, target.mode)
        } else {
            try files.changeMode(file.number, to.newFileMode(target.mode))
        }
        try files.sync(file.number)
    }

    private func continueCopy(_ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Progress {
        guard let source, let copy else { return .gone }
        do {
            let count = try files.copySlice(source.number, to: copy.number, at: copied, size: Self.sliceSize)
            if count > 0 {
                copied += UInt64(count)
                return .step(.more)
            }
            let final = try files.status(in: to.number, target.destination.name)
            if let final, let failure = try refusal(final, for: target.partName, in: to, to) {
                try? files.remove(target.partName, in: to.number)
                return .refused(failure)
            }
            let status = try files.status(copy.number)
            try setAttributes(of: copy, status, replacing: final, in: to)
            if recorded != .copy { return .step(record(.copy, status, to)) }
            try files.rename(
                target.partName, in: to.number, to: target.destination.name, in: to.number, replace: target.replace)
        } catch {
            try? files.remove(target.partName, in: to.number)
            if error.code == EEXIST { return .refused(.exists(target.destination.path)) }
            throw error
        }
        return try removeSource(from, to)
    }

    private func matchesIntent(_ status: FileStatus) -> Bool { intent.map { status.matches($0) } ?? false }

    private func record(_ subject: Subject, _ status: FileStatus, _ to: OpenDirectory) -> Step {
        var intent = FinishIntent(device: status.device, inode: status.inode, size: status.size)
        intent.fileSystem = to.identity
        self.intent = intent
        recorded = subject
        return .record(intent)
    }

    private func removeSource(_ from: OpenDirectory, _ to: OpenDirectory) throws(SystemError) -> Progress {
        // The new name is synced before the old name is removed.
        try files.syncDirectory(to.number)
        CrashPoint.afterClaimCopy.reach()
        try files.remove(kept.name, in: from.number)
        try files.syncDirectory(from.number)
        return .step(.moved)
    }
}
