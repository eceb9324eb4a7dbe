import BackhaulModel

/// A simulated directory for one download. The download writes to the *part file*, which is renamed to its final name
/// at the end. After a power loss, unsynced bytes may be missing or garbage. After a failed sync, unsynced bytes may be
/// garbage. Operations are performed one after the other.
struct SimulatedDisk {
    enum Operation {
        case checkSealedFile(FinishIntent)
        case open(isSameBoot: Bool, synced: Int)
        case restart
        case append([UInt8])
        case sync
        case seal([UInt8], size: Int)
        case place(FinishIntent)
        case discard
        case close
    }

    struct File: Equatable {
        var inode: UInt64
        /// The bytes as a reader sees them.
        var bytes: [UInt8]
        /// The bytes that are durable on the disk.
        var durable: [UInt8] = []
        /// Whether the file's name would exist after a power loss.
        var isNamed = false
    }

    private(set) var part: File?
    private(set) var final: File?
    /// The part file as it was before its rename. Nil before the rename, and after the directory is synced. Before this
    /// sync, a power loss may undo the rename.
    private var partBeforeRename: File?
    private var lastInode: UInt64 = 100
    // The state of the open part file. This state is lost when the process ends.
    private var isOpen = false
    private var length = 0
    /// Whether an operation on the open file has failed. Until the file is opened again, all further operations fail,
    /// so that no bytes are written in place of lost bytes.
    private var isBroken = false
    /// Whether a failed sync has lost bytes, and the file has not been closed since that sync.
    private(set) var hasLostBytes = false

    /// Whether the complete file would have its final name after a power loss.
    var finalIsDurable: Bool { final.map { $0.isNamed && $0.durable == $0.bytes } ?? false }

    mutating func perform(_ operation: Operation, failing failure: Failure?, _ random: inout Random)
        -> DownloadMachine.Event?
    {
        do throws(Failure) {
            return try attempt(operation, failing: failure, &random)
        } catch {
            return .diskFailed(error)
        }
    }

    private mutating func attempt(
        _ operation: Operation, failing failure: Failure?, _ random: inout Random
    ) throws(Failure) -> DownloadMachine.Event? {
        switch operation {
        case .checkSealedFile(let intent):
            if let failure { throw failure }
            return .sealedFileChecked(isThere: isIntended(final, intent) || isIntended(part, intent))
        case .open(let isSameBoot, let synced):
            close()
            if let failure { throw failure }
            guard let there = part, there.bytes.count >= synced, !there.bytes.isEmpty else { return .opened(length: 0) }
            if !isSameBoot { part?.bytes.removeLast(there.bytes.count - synced) }
            isOpen = true
            length = part?.bytes.count ?? 0
            return .opened(length: UInt64(length))
        case .restart:
            close()
            if let failure { throw failure }
            return nil
        case .append(let bytes):
            try append(bytes, failing: failure)
            return .appended(length: UInt64(length))
        case .sync:
            try sync(failing: failure, &random)
            return .synced(length: UInt64(length))
        case .seal(let bytes, let size):
            guard length + bytes.count == size else { throw Failure(.badResponse, "another length") }
            try append(bytes, failing: random.once(in: 2) ? failure : nil)
            try sync(failing: failure, &random)
            isOpen = false
            return .sealed(FinishIntent(device: 1, inode: part?.inode ?? 0, size: UInt64(length)))
        case .place(let intent):
            try place(intent, failing: failure, &random)
            return .placed
        case .discard:
            close()
            if let failure { throw failure }
            part = nil
            return .discarded
        case .close:
            close()
            return nil
        }
    }

    private mutating func append(_ bytes: [UInt8], failing failure: Failure?) throws(Failure) {
        if isBroken { throw .broken }
        if !isOpen {
            lastInode += 1
            part = File(inode: lastInode, bytes: [])
            isOpen = true
        }
        if let failure {
            isBroken = true
            throw failure
        }
        part?.bytes += bytes
        length += bytes.count
    }

    private mutating func sync(failing failure: Failure?, _ random: inout Random) throws(Failure) {
        if isBroken { throw .broken }
        guard isOpen, let file = part else { return }
        if let failure {
            isBroken = true
            if random.once(in: 2) { loseUnsynced(of: file) }
            throw failure
        }
        part?.durable = file.bytes
        part?.isNamed = true
    }

    /// Replaces unsynced bytes by garbage. If the kernel cannot write a page, it still marks the page as clean, and may
    /// later read other bytes from the disk.
    private mutating func loseUnsynced(of file: File) {
        let kept = file.bytes.indices.prefix { $0 < file.durable.count && file.bytes[$0] == file.durable[$0] }.count
        for index in kept..<file.bytes.count { part?.bytes[index] = 0xEE }
        hasLostBytes = kept < file.bytes.count
    }

    private mutating func place(
        _ intent: FinishIntent, failing failure: Failure?, _ random: inout Random
    ) throws(Failure) {
        let failsLate = random.once(in: 2)
        if let failure, !failsLate { throw failure }
        if isIntended(part, intent) {
            if final != nil { throw Failure(.destinationExists, "a foreign file exists") }
            partBeforeRename = part
            final = part
            final?.isNamed = false
            part = nil
        }
        guard isIntended(final, intent) else { throw .gone }
        if let failure { throw failure }
        final?.isNamed = true
        partBeforeRename = nil
    }

    private func isIntended(_ file: File?, _ intent: FinishIntent) -> Bool {
        file.map { $0.inode == intent.inode && UInt64($0.bytes.count) == intent.size } ?? false
    }

    // MARK: Crashes

    /// Resets the state of the open file, as the end of the process does.
    mutating func close() { (isOpen, isBroken, hasLostBytes, length) = (false, false, false, 0) }

    mutating func losePower(_ random: inout Random) {
        close()
        // A power loss may undo a rename that was not synced.
        if let old = partBeforeRename, final?.isNamed == false, random.once(in: 2) {
            final = nil
            part = old
        }
        if final != nil { final?.isNamed = true }
        partBeforeRename = nil
        guard let file = part else { return }
        guard file.isNamed || random.once(in: 2) else {
            part = nil
            return
        }
        // Some of the unsynced bytes survive, and each of these bytes may be garbage.
        var bytes = file.durable
        let rest = max(0, file.bytes.count - bytes.count)
        for index in 0..<random.number(0...rest) {
            bytes.append(random.once(in: 2) ? file.bytes[file.durable.count + index] : 0xDD)
        }
        part?.bytes = bytes
        part?.durable = bytes
        part?.isNamed = true
    }
}
