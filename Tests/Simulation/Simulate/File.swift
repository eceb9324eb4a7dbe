import Glibc

/// A file that a task has made.
enum File {
    enum Finding: Equatable {
        /// The file has exactly the content of this version.
        case right(version: UInt64)
        case wrong(size: Int64)
        case missing
    }

    static func version(_ plan: TaskPlan, at path: String) -> Finding {
        guard let bytes = read(path) else { return .missing }
        let versions = 0...UInt64(plan.resource.changes.count)
        let right = versions.first { version in
            bytes.count == Content.size(plan, version: version)
                && bytes == Content.bytes(plan.number, version: version, from: 0, count: bytes.count)
        }
        return right.map { .right(version: $0) } ?? .wrong(size: Int64(bytes.count))
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = Int(max(0, lseek(file, 0, SEEK_END)))
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            filled = max(0, pread(file, buffer.baseAddress, size, 0))
        }
    }
}
