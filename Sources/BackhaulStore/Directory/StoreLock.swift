public import BackhaulModel
public import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The lock of a store. The process that has the lock is the engine. The lock is released when this object is freed or
/// the process ends. Forked children close their copies of the lock's descriptor.
public final class StoreLock: Sendable {
    private let lock: FileLock

    fileprivate init(_ lock: FileLock) { self.lock = lock }
}

extension StoreDirectory {
    static let lockName = "lock"

    /// Takes the lock, and writes the process's identity into the lock file. Returns nil when another open file
    /// description has the lock, in this process or in another.
    public func acquireLock() throws(Failure) -> StoreLock? {
        while true {
            let file = try openFile(Self.lockName)
            guard let lock = try lock(file) else { return nil }
            // If the lock file was removed after it was opened, the lock on it excludes no other process.
            guard isLockFile(file) else { continue }
            write(.current, into: file)
            return StoreLock(lock)
        }
    }

    /// Whether an engine has the lock, in this process or in another. This property never takes the lock. If it took
    /// the lock for a moment, a daemon that starts at that moment would find the lock taken, and exit.
    public var isLocked: Bool {
        let number = bhl_openat(descriptor.number, Self.lockName, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
        guard number >= 0 else { return false }
        let file = Descriptor(owning: number)
        return bhl_is_locked(file.number) != 0
    }

    /// The process whose identity is in the lock file, or nil if the file cannot be read. The value is for messages
    /// only: the file may name a process that has ended.
    public func lockHolder() -> ProcessIdentity? {
        let number = bhl_openat(descriptor.number, Self.lockName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard number >= 0 else { return nil }
        let file = Descriptor(owning: number)
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = pread(file.number, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        let fields = String(decoding: buffer[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard fields.count == 3, let processID = Int32(fields[0]), let startTime = UInt64(fields[1]) else { return nil }
        return ProcessIdentity(processID: processID, startTime: startTime, bootID: String(fields[2]))
    }

    private func lock(_ file: Descriptor) throws(Failure) -> FileLock? {
        do {
            return try FileLock(file)
        } catch {
            throw Failure.system(
                .storeUnavailable, code: error.code,
                "the store \(path) cannot be locked: \(error.reason); "
                    + "set options.store to a directory on a local disk")
        }
    }

    private func isLockFile(_ file: Descriptor) -> Bool {
        let ours = FileIdentity(of: file.number)
        return ours != nil && ours == FileIdentity(named: Self.lockName, in: descriptor)
    }

    /// Writes the process's identity into the lock file. A failure is ignored, because the lock does not depend on the
    /// file's text.
    private func write(_ identity: ProcessIdentity, into file: Descriptor) {
        var text = Array("\(identity.processID) \(identity.startTime) \(identity.bootID)\n".utf8)
        _ = ftruncate(file.number, 0)
        _ = pwrite(file.number, &text, text.count, 0)
    }
}
