import Glibc

/// A file that a task has made.
enum File {
    enum Finding: Equatable {
        /// The file has exactly the content of this version.
        case right(version: UInt64)
        case wrong(size: Int64)
        /// The task has not made its file: there is no file, or the file that the task replaces.
        case missing
    }

    static func version(_ plan: TaskPlan, at path: String) -> Finding {
        guard let bytes = read(path) else { return plan.replaces ? .wrong(size: 0) : .missing }
        if plan.replaces, bytes == Content.replaced { return .missing }
        let right = (0...plan.resource.lastVersion).first { version in
            bytes.count == Content.size(plan, version: version)
                && Content.matching(bytes[...], plan.number, version: version, from: 0) == bytes.count
        }
        return right.map { .right(version: $0) } ?? .wrong(size: Int64(bytes.count))
    }

    /// Makes the file that the task replaces or sends.
    static func make(_ plan: TaskPlan, in folder: String) {
        guard plan.replaces || plan.upload != nil else { return }
        let file = open("\(folder)/\(plan.number)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        let bytes = plan.replaces ? Content.replaced : Content.all(plan, version: 0)
        write(file, bytes, bytes.count)
        close(file)
    }

    /// Gives the file that the task sends another content, durably.
    static func change(_ plan: TaskPlan, to version: Int, at path: String) {
        let overwrites = plan.upload?.isOverwritten == true
        let bytes = Content.all(plan, version: UInt64(version))
        let file = open(overwrites ? path : path + ".new", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        pwrite(file, bytes, bytes.count, 0)
        ftruncate(file, off_t(bytes.count))
        fsync(file)
        close(file)
        if !overwrites { rename(path + ".new", path) }
    }

    static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = Int(max(0, lseek(file, 0, SEEK_END)))
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            filled = max(0, pread(file, buffer.baseAddress, size, 0))
        }
    }
}
