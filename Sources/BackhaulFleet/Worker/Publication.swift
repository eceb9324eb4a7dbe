internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The files of one run of a task: a temporary file, whose name has the run, and the destination beside it.
///
/// The database decides which run has the end of the task (`WorkerQueue.publish`). Before this decision, the temporary
/// file is complete. After it, the temporary file is renamed to the destination. If the worker is lost in between,
/// another worker gets a new run, and first renames the temporary file to the name of its own run (`adopt`). From then
/// on, the lost worker has no file that it could rename: this is the fence in the file system.
struct Publication {
    enum Placement: Equatable {
        case placed
        /// The temporary file of the run does not exist: another run has adopted it, or the file was lost.
        case gone
        /// The directory cannot be opened or synced, so the file may have its final name, but not durably.
        case unavailable(Failure)
        case failed(Failure)
    }

    enum Adoption: Equatable {
        case adopted
        /// No run has a temporary file.
        case missing
        /// The directory cannot be reached, so the file may exist.
        case unavailable(Failure)
    }

    private let destination: String
    private var directory: String { Destination.directory(of: destination) }
    private let replaces: Bool
    private let run: TaskRun
    private let fleet: String
    private let reserved: ReservedDirectory?

    /// - fleet: the id of the fleet. Another fleet may use the same directory.
    init(
        _ run: TaskRun, of fleet: String, destination: String, replaces: Bool, reserved: ReservedDirectory? = nil
    ) {
        self.run = run
        self.reserved = reserved
        self.fleet = fleet
        self.destination = destination
        self.replaces = replaces
    }

    var temporaryPath: String { temporaryPath(ofRun: run.run) }

    private func temporaryPath(ofRun run: Int64) -> String {
        let name = temporaryName(ofRun: run)
        return directory == "/" ? "/" + name : directory + "/" + name
    }

    private func temporaryName(ofRun run: Int64) -> String {
        ".backhaul-\(fleet.prefix(8))-\(TaskRun(task: self.run.task, run: run).text)"
    }

    /// The inode of the temporary file. A rename keeps it.
    var temporaryInode: UInt64? { Self.inode(of: temporaryPath) }
    var destinationInode: UInt64? { Self.inode(of: destination) }

    private static func inode(of path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Takes the temporary file over from an earlier run.
    ///
    /// The runs are tried in their order. The file only moves from a run to a later one, so it cannot be missed.
    func adopt(from first: Int64) -> Adoption {
        for earlier in stride(from: first, to: run.run, by: 1) {
            if rename(temporaryPath(ofRun: earlier), temporaryPath) == 0 { return .adopted }
            let code = errno
            if code != ENOENT { return .unavailable(failure(code)) }
        }
        if temporaryInode != nil { return .adopted }
        return Self.inode(of: directory) == nil ? .unavailable(failure(ENOENT)) : .missing
    }

    /// Gives the temporary file its final name, and makes the name durable.
    func place() -> Placement { sync(after: name) }

    /// Makes the final name durable that an earlier attempt has given to the file.
    func confirm() -> Placement { sync { _ in nil } }

    /// Opens the directory before the change: then no lack of descriptors can follow the change.
    private func sync(after change: (Int32) -> Placement?) -> Placement {
        let opened = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return .unavailable(failure(errno)) }
        defer { close(opened) }
        if let refusal = change(opened) { return refusal }
        do throws(SystemError) {
            try FileSync.sync(opened)
            return .placed
        } catch {
            return .unavailable(failure(error.code))
        }
    }

    /// Gives the temporary file its final name. Uses the open directory instead of its path, because a symbolic link on
    /// the path may have changed since the start. Returns nil if the file has the name.
    private func name(in directory: Int32) -> Placement? {
        if let reserved {
            guard let isReserved = reserved.contains(directory) else { return .unavailable(failure(errno)) }
            if isReserved { return .failed(ReservedDirectory.refusal(of: destination)) }
        }
        let temporary = temporaryName(ofRun: run.run)
        let name = Destination.name(of: destination)
        if replaces { return renameat(directory, temporary, directory, name) == 0 ? nil : refusal(errno) }
        if linkat(directory, temporary, directory, name, 0) != 0 {
            let code = errno
            // An earlier attempt of this publication may have made the link.
            guard code == EEXIST, let inode = temporaryInode, inode == destinationInode else { return refusal(code) }
        }
        unlinkat(directory, temporary, 0)
        return nil
    }

    func removeTemporaryFile() { remove(run.run...run.run) }

    /// Removes the temporary files of all earlier runs, which workers that were lost may have left. When the end of the
    /// task is stored, no worker looks for these files any more, so they are removed before.
    func removeEarlierTemporaryFiles() {
        if run.run > 1 { remove(1...run.run - 1) }
    }

    /// Removes the files in the order of their runs, for the same reason as `adopt`. Also syncs if no file is there: a
    /// worker may have been killed after it had removed the file.
    private func remove(_ runs: ClosedRange<Int64>) {
        for number in runs { unlink(temporaryPath(ofRun: number)) }
        _ = sync { _ in nil }
    }

    private func refusal(_ code: Int32) -> Placement {
        code == ENOENT && temporaryInode == nil ? .gone : .failed(failure(code))
    }

    private func failure(_ code: Int32) -> Failure {
        let status: Status =
            switch code {
            case EEXIST: .destinationExists
            case ENOSPC, EDQUOT: .diskFull
            case EIO: .diskFailed
            default: .destinationUnavailable
            }
        let error = SystemError(code: code, messageStart: "the file cannot get its name \(destination)")
        return Failure.system(status, code: code, error.description)
    }
}
