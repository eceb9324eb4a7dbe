internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The state of a part file until the file is sealed (complete and synced). The state belongs to one disk thread.
final class OpenPart {
    /// After each 8 MiB, the kernel starts to write the bytes to the disk, so that the sync of a large file is short.
    private static let writeBackSize: UInt64 = 8 << 20

    private let files: FileSystem
    private let journal: PartJournal?
    private let location: PartLocation
    /// Nil when there is no file yet.
    private var descriptor: Descriptor?
    /// The device and inode of the file; nil before the first write to a new file.
    private var identity: (device: UInt64, inode: UInt64)?
    /// How many bytes of the download are in the file.
    private(set) var length: UInt64 = 0
    /// How many of them a sync has made durable.
    private var syncedLength: UInt64 = 0
    /// The CRC-32C of these bytes; nil when this engine has not read or written all of them.
    private var checksum: UInt32? = 0
    /// The check of the file's existing bytes; nil if no check is needed, or if the check is done. While this is not
    /// nil, the bytes are not trusted.
    private var check: PartVerification?
    /// The times of the file after this engine's last write.
    private var lastWritten: FileTimes?
    /// The state of the file after this engine closed the file or failed to write it; nil if this state is not known.
    private(set) var footprint: PartFootprint?
    private var writeBackStarted: UInt64 = 0
    /// The digest, if one was requested.
    private var digest: PartDigest?
    private var digestRestarts = 0
    /// The failure of a sync or a write. After such a failure, all operations fail in the same way, until the caller
    /// resumes from the last synced length.
    private var syncFailure: Failure?

    private var path: String { location.destination.path }

    init(
        _ location: PartLocation, files: FileSystem, _ journal: PartJournal?, _ footprint: PartFootprint? = nil
    ) {
        self.location = location
        self.journal = journal
        self.files = files
        self.footprint = footprint
    }

    /// Opens an existing part file, and returns the length from which the download continues. `fingerprints` are the
    /// values, stored in the database, by which the engine recognises the file. If `isUnverified` is true afterwards,
    /// the caller must first call `verifyNext` until it returns a length.
    func resume(
        trusting trusted: TrustedLength, as fingerprints: [PartFingerprint], _ directories: inout DirectoryCache
    ) throws(Failure) -> UInt64 {
        closeKeeping()
        let directory = try directories.directory(of: location.destination)
        guard trusted != .nothing else { return 0 }
        return try reporting { () throws(SystemError) in
            // The existing file may belong to another user. So the file is checked before it is opened for writing, and
            // a second time after the open.
            guard let named = try files.status(in: directory.number, location.partName),
                try named.isOurs(on: files, directory.number)
            else { return 0 }
            let file = try files.open(in: directory.number, ownNamed: location.partName)
            let status = try files.status(file.number)
            guard try status.isOurs(on: files, file.number), status.size > 0,
                let known = knownContent(status, trusted, fingerprints)
            else {
                return 0
            }
            if status.size > known.length {
                try files.truncate(file.number, to: known.length)
                // After the truncation, the footprint (the known state of the closed file) does not match the file any
                // more. Only `fingerprints` still match the file.
                footprint = nil
            }
            descriptor = file
            identity = (status.device, status.inode)
            length = known.length
            syncedLength = min(length, trusted.synced)
            writeBackStarted = length
            (checksum, check) = (known.checksum, known.check)
            lastWritten = known.check == nil ? FileTimes(status) : nil
            return length
        }
    }

    private struct KnownContent {
        var length: UInt64
        var checksum: UInt32?
        /// The check that must read the file before the download continues; nil if no check is needed.
        var check: PartVerification?
    }

    /// Returns how many bytes of the file the download can keep. A check may have to verify these bytes first. Returns
    /// nil if this is not the file that the download wrote, or if no byte can be trusted.
    private func knownContent(
        _ status: FileStatus, _ trusted: TrustedLength, _ fingerprints: [PartFingerprint]
    ) -> KnownContent? {
        let synced = trusted.synced
        let isSameBoot = if case .allWritten = trusted { true } else { false }
        guard trusted != .nothing, status.size >= synced else { return nil }
        // After a remount, the same file may have another device and inode. Then its checksum decides.
        if let footprint, footprint.hasNumbers(of: status) {
            guard footprint.isSameFile(status) else { return nil }
            let length = isSameBoot ? status.size : min(status.size, synced)
            let isWhole = length == status.size
            if footprint.isUntouched(status) {
                return isWhole
                    ? KnownContent(length: length, checksum: footprint.checksum)
                    : length > 0 ? KnownContent(length: length, check: PartVerification(reading: length)) : nil
            }
            if isWhole, let checksum = footprint.checksum {
                return KnownContent(
                    length: length, check: PartVerification([.init(length: length, checksum: checksum)]))
            }
        }
        return knownContent(status, synced, isSameBoot, fingerprints)
    }

    /// Returns the known content of a file that an earlier engine wrote. Only checksums can prove what the earlier
    /// engine has written.
    private func knownContent(
        _ status: FileStatus, _ synced: UInt64, _ isSameBoot: Bool, _ fingerprints: [PartFingerprint]
    ) -> KnownContent? {
        // If no checksum is known, only the synced bytes are trusted.
        guard fingerprints.contains(where: { $0.checksum != nil }) else {
            return synced > 0 && footprint == nil
                ? KnownContent(length: synced, check: PartVerification(reading: synced)) : nil
        }
        var prefixes = fingerprints.compactMap { fingerprint in
            fingerprint.checksum.map { PartVerification.Prefix(length: fingerprint.length, checksum: $0) }
        }
        if isSameBoot, let last = journal?.record(of: status.inode, location.partName) {
            prefixes.append(.init(length: last.length, checksum: last.checksum))
        }
        prefixes.removeAll { $0.length > status.size || $0.length == 0 }
        guard !prefixes.isEmpty else { return nil }
        let check = PartVerification(prefixes)
        return KnownContent(length: check.end, check: check)
    }

    var isUnverified: Bool { check != nil }

    /// Reads the next slice of the existing bytes, and writes its unsynced bytes again. Returns nil if more slices
    /// follow. After the last slice, returns how many of the bytes are trusted.
    func verifyNext(_ directories: inout DirectoryCache) throws(Failure) -> UInt64? {
        guard var check else { return length }
        let file = try current(&directories).file
        let rest = check.end - check.offset
        var slice = [UInt8](repeating: 0, count: Int(min(UInt64(PartDigest.sliceSize), rest)))
        let count = try reporting { () throws(SystemError) in
            slice.isEmpty ? 0 : try files.read(file.number, into: &slice, at: check.offset)
        }
        try writeAgain(slice[..<count], to: file, at: check.offset)
        check.add(slice[..<count])
        guard check.offset == check.end || count == 0 else {
            self.check = check
            return nil
        }
        self.check = nil
        let verifiedPrefix = check.verifiedPrefix
        guard verifiedPrefix.length > 0 else {
            forget()
            return 0
        }
        if verifiedPrefix.length < length {
            try reporting { () throws(SystemError) in try files.truncate(file.number, to: verifiedPrefix.length) }
        }
        (length, checksum) = (verifiedPrefix.length, verifiedPrefix.checksum)
        writeBackStarted = length
        return length
    }

    /// Writes the bytes of a slice that no sync is known to cover. If a sync has failed, and a kill came before the
    /// truncation, the kernel takes these bytes for clean, and a later sync would not write them (fsync(2)).
    private func writeAgain(_ slice: ArraySlice<UInt8>, to file: Descriptor, at offset: UInt64) throws(Failure) {
        let synced = min(UInt64(slice.count), syncedLength - min(offset, syncedLength))
        let unsynced = slice.dropFirst(Int(synced))
        try reporting { () throws(SystemError) in try files.write(file.number, unsynced, at: offset + synced) }
    }

    /// Appends the bytes to the file, and records the new length in the `PartJournal`. Returns that length.
    func append(_ bytes: [UInt8], _ directories: inout DirectoryCache) throws(Failure) -> UInt64 {
        let (file, directory) = try current(&directories)
        try noticeChange(of: file)
        try write(bytes, to: file, in: directory)
        let status = try? files.status(file.number)
        lastWritten = status.map(FileTimes.init)
        if let status { identity = (status.device, status.inode) }
        note()
        return length
    }

    /// Throws if another program has shortened or extended the file since this engine's last write. If only the times
    /// have changed, the digest starts again, so that it is the digest of the bytes in the file. It starts again two
    /// times at most, because on some network file systems the times change later than the bytes.
    private func noticeChange(of file: Descriptor) throws(Failure) {
        guard let lastWritten, let status = try? files.status(file.number) else { return }
        guard status.size == length else { throw markFailed(.changedExternally(path)) }
        if FileTimes(status) != lastWritten, let algorithm = digest?.algorithm, digestRestarts < 2 {
            digest = try PartDigest(algorithm)
            digestRestarts += 1
            self.lastWritten = FileTimes(status)
        }
    }

    /// Records the length and the checksum in the journal. If the engine has given up this thread, the thread must not
    /// change the journal, because a later engine may use the journal.
    private func note() {
        guard let journal, let identity, let checksum, files.activity?.isRevoked != true else { return }
        journal.note(identity.inode, location.partName, length: length, checksum: checksum)
    }

    /// `directory`: the file's directory, if this is the first write to a new file.
    private func write(_ bytes: [UInt8], to file: Descriptor, in directory: OpenDirectory?) throws(Failure) {
        do throws(Failure) {
            if let directory {
                try reserve(UInt64(bytes.count), in: directory)
            } else if length - writeBackStarted + UInt64(bytes.count) >= OpenPart.writeBackSize {
                try checkSpace(UInt64(bytes.count), on: file.number)
            }
            try reporting { () throws(SystemError) in try files.write(file.number, bytes[...], at: length) }
            try digest?.add(bytes[...], behind: length)
        } catch {
            // The part file is marked as failed, so that queued appends are not written at the offset of this append.
            try? files.truncate(file.number, to: length)
            let status = try? files.status(file.number)
            let isTruncated = status?.size == length
            let footprint = isTruncated ? status.map { PartFootprint($0, length, FileTimes($0), checksum) } : nil
            markFailed(error)
            self.footprint = footprint
            throw error
        }
        length += UInt64(bytes.count)
        checksum = checksum.map { known in bytes.withUnsafeBytes { bhl_crc32c(known, $0.baseAddress, $0.count) } }
        if length - writeBackStarted >= OpenPart.writeBackSize {
            files.startWriteBack(file.number)
            writeBackStarted = length
        }
    }

    /// Returns the file to sync, and the length that the sync makes durable. Returns nil when there is no file yet.
    func prepareSync(_ directories: inout DirectoryCache) throws(Failure) -> (file: Descriptor, length: UInt64)? {
        if let syncFailure { throw syncFailure }
        return descriptor.map { (file: $0, length: length) }
    }

    /// Starts a digest of the whole file. `hashNext` adds the bytes that exist already.
    func hash(_ algorithm: Checksum.Algorithm) throws(Failure) {
        if let syncFailure { throw syncFailure }
        digest = try PartDigest(algorithm)
    }

    /// Adds the next slice of the existing bytes to the digest. Returns true when the digest covers all of them.
    func hashNext(_ directories: inout DirectoryCache) throws(Failure) -> Bool {
        if let syncFailure { throw syncFailure }
        guard digest != nil, length > 0 else { return true }
        let file = try current(&directories).file
        try noticeChange(of: file)
        guard let digested = digest?.length, digested < length else { return true }
        var slice = [UInt8](repeating: 0, count: Int(min(UInt64(PartDigest.sliceSize), length - digested)))
        let count = try reporting { () throws(SystemError) in
            try files.read(file.number, into: &slice, at: digested)
        }
        guard count > 0 else { throw markFailed(.changedExternally(path)) }
        try digest?.add(slice[..<count], behind: digested)
        return digested + UInt64(count) >= length
    }

    /// Throws if a write of this many bytes would use the reserve of the file system: the bytes that stay free for
    /// other programs. `size` is the size of the whole file, as the server announced it. If `replacesPart` is true
    /// and the space is too small, an old part file is removed, because the download does not continue it.
    func checkSpace(
        _ bytes: UInt64, ofFileOf size: UInt64?, replacesPart: Bool, _ directories: inout DirectoryCache
    ) throws(Failure) {
        let directory = try directories.directory(of: location.destination)
        do {
            try checkSpace(bytes, ofFileOf: size, on: directory.number)
        } catch where error.status == .diskFull && replacesPart {
            guard try removeReplacedPart(in: directory) else { throw error }
            try checkSpace(bytes, ofFileOf: size, on: directory.number)
        }
    }

    private func checkSpace(_ bytes: UInt64, ofFileOf size: UInt64? = nil, on descriptor: Int32) throws(Failure) {
        try check(try reporting { () throws(SystemError) in try files.space(descriptor) }, bytes, ofFileOf: size)
    }

    /// Checks the space for the first bytes of the file. All new files of a batch (jobs that a disk thread performs
    /// together) share one system call.
    private func reserve(_ bytes: UInt64, in directory: OpenDirectory) throws(Failure) {
        let space = try reporting { () throws(SystemError) in try directory.reserve(bytes) }
        do {
            try check(space, bytes)
        } catch where error.status == .diskFull {
            guard try removeReplacedPart(in: directory) else { throw error }
            try checkSpace(bytes, on: directory.number)
        }
    }

    /// Removes the part file of an earlier attempt, which this download replaces. Otherwise, the bytes of that file
    /// would prevent the download that needs their space. Returns false if there is no such file.
    private func removeReplacedPart(in directory: OpenDirectory) throws(Failure) -> Bool {
        guard descriptor == nil else { return false }
        return try reporting { () throws(SystemError) in
            guard let named = try files.status(in: directory.number, location.partName),
                try named.isOurs(on: files, directory.number)
            else { return false }
            try files.remove(location.partName, in: directory.number)
            footprint = nil
            return true
        }
    }

    private func check(_ space: FileSystemSpace, _ bytes: UInt64, ofFileOf size: UInt64? = nil) throws(Failure) {
        if let size, !space.isLargeEnough(size) {
            throw Failure(
                .tooLarge,
                "the server announced \(size) bytes for \(path), and its whole file system has \(space.total); use a "
                    + "destination on a larger one")
        }
        guard !space.fits(bytes) else { return }
        throw .system(
            .diskFull, code: ENOSPC,
            "the file system of \(path) has \(space.available) bytes left, too few for \(bytes) more and a reserve of "
                + "\(space.reserve); free some space on it")
    }

    /// Writes the rest of the file and sets its permissions. The caller then syncs the file.
    func prepareSeal(
        _ last: [UInt8], expected: UInt64?, _ directories: inout DirectoryCache
    ) throws(Failure) -> (file: Descriptor, new: PendingSyncs.NewFile?, sealed: SealedFile) {
        if let syncFailure { throw syncFailure }
        let whole = length + UInt64(last.count)
        if let expected, whole != expected {
            throw Failure(
                whole < expected ? .connectionLost : .badResponse,
                "the server announced \(expected) bytes for \(path) and sent \(whole)")
        }
        let (isContinued, isNew) = (length > 0, descriptor == nil && !last.isEmpty)
        let directory = try directories.directory(of: location.destination)
        let mode = try reporting { () throws(SystemError) in try sealedMode(in: directory) }
        let file = if let descriptor { descriptor } else { try create(in: directory, mode: mode) }
        if !last.isEmpty {
            try write(last, to: file, in: isContinued ? nil : directory)
            // A file that is written in one step needs no record in the journal, because its download never continues
            // from a part of the file.
            if isContinued { note() }
        }
        let status = try reporting { () throws(SystemError) in
            let status = try files.status(file.number)
            if status.mode == mode { return status }
            try files.changeMode(file.number, mode)
            return try files.status(file.number)
        }
        lastWritten = FileTimes(status)
        guard status.size == length else { throw markFailed(.changedExternally(path)) }
        let intent = FinishIntent(device: status.device, inode: status.inode, size: length, checksum: checksum)
        let new = isNew ? PendingSyncs.NewFile(directory: directory, size: length) : nil
        return (file, new, SealedFile(intent: intent, checksum: try digest?.finish()))
    }

    /// The mode of the sealed file. If it will replace a file, only its owner may read it until then.
    private func sealedMode(in directory: OpenDirectory) throws(SystemError) -> UInt32 {
        if location.replace, location.mode.isDefault {
            let name = location.destination.name
            if name.isEmpty { return 0o600 }
            if try files.status(in: directory.number, name) != nil { return 0o600 }
        }
        return directory.newFileMode(location.mode)
    }

    func synced(_ length: UInt64) { syncedLength = length }

    /// Truncates the file to the bytes of earlier syncs. After a failed sync, the kernel takes the other bytes for
    /// clean, so a later sync would not write them (fsync(2)).
    func truncateToSynced() {
        if let descriptor { try? files.truncate(descriptor.number, to: syncedLength) }
    }

    /// Closes the file after a failure. Only `resume` opens the file again, with a trusted length.
    @discardableResult
    func markFailed(_ failure: Failure) -> Failure {
        forget()
        syncFailure = failure
        return failure
    }

    var fingerprint: PartFingerprint? {
        identity.map { PartFingerprint(device: $0.device, inode: $0.inode, length: length, checksum: checksum) }
    }

    /// Closes the file, and stores its footprint.
    func closeKeeping() {
        if let descriptor, check == nil, let status = try? files.status(descriptor.number) {
            footprint = PartFootprint(status, length, lastWritten, checksum)
        }
        let footprint = footprint
        forget()
        self.footprint = footprint
    }

    private func forget() {
        descriptor = nil
        identity = nil
        syncFailure = nil
        (length, syncedLength) = (0, 0)
        checksum = 0
        check = nil
        footprint = nil
        lastWritten = nil
        writeBackStarted = 0
        digest = nil
        digestRestarts = 0
    }

    /// Returns the open file. If there is none, creates it, and returns its directory, too. If this fails, the part
    /// file is marked as failed, so that queued appends are not written at the offset of this one.
    private func current(
        _ directories: inout DirectoryCache
    ) throws(Failure) -> (file: Descriptor, newIn: OpenDirectory?) {
        if let syncFailure { throw syncFailure }
        if let descriptor { return (descriptor, nil) }
        do {
            let directory = try directories.directory(of: location.destination)
            return (try create(in: directory, mode: 0o600), directory)
        } catch {
            throw markFailed(error)
        }
    }

    private func create(in directory: OpenDirectory, mode: UInt32) throws(Failure) -> Descriptor {
        let destination = location.destination
        try NameProbe.check(destination.name, in: directory.number, at: destination.path, files)
        let file = try reporting { () throws(SystemError) in try createReplacing(in: directory, mode: mode) }
        descriptor = file
        return file
    }

    /// Creates the part file. An existing file with the same name, such as an old part file, is replaced.
    private func createReplacing(in directory: OpenDirectory, mode: UInt32) throws(SystemError) -> Descriptor {
        do {
            return try files.create(in: directory.number, location.partName, mode: mode)
        } catch where error.code == EEXIST {
            try files.remove(location.partName, in: directory.number)
            return try files.create(in: directory.number, location.partName, mode: mode)
        }
    }

    private func reporting<Value>(_ body: () throws(SystemError) -> Value) throws(Failure) -> Value {
        do {
            return try body()
        } catch {
            throw .disk(error, location.partDescription)
        }
    }
}
