/// The work of downloads that waits for each file system. A file system that is slow or hung must not stop the tasks
/// whose files are on other file systems. A file system is identified by its device number.
struct DiskLoad {
    /// The limit for bytes in memory that are not written to the disks yet. While there are more bytes, no task starts.
    /// So the memory does not fill if the network is faster than the disks.
    static let unwrittenLimit = 24 << 20
    /// How many of the bytes of one file system count for `unwrittenLimit`. If a file system has more bytes, its
    /// downloads keep their slots, so the number of slots limits the memory.
    static let unwrittenShare = 8 << 20
    /// The largest number of downloads that finish on one file system without a slot. While many small files finish,
    /// the disk and the database each work on some hundreds of them.
    static let finishingLimit = 512

    private var unwritten: [UInt64: Int] = [:]
    private var finishing: [UInt64: Int] = [:]

    /// Whether so many bytes are not written yet that no task may start.
    var isFull: Bool { unwritten.values.reduce(0) { $0 + min($1, Self.unwrittenShare) } > Self.unwrittenLimit }

    /// Whether a download on this file system keeps its slot until its file is in place. So if the disk is slow, only
    /// as many downloads start as the disk finishes.
    func isBusy(_ device: UInt64) -> Bool {
        unwritten[device, default: 0] > Self.unwrittenShare || finishing[device, default: 0] >= Self.finishingLimit
    }

    mutating func willWrite(_ count: Int, to device: UInt64) { unwritten[device, default: 0] += count }

    mutating func wrote(_ count: Int, to device: UInt64) {
        let left = unwritten[device, default: 0] - count
        unwritten[device] = left > 0 ? left : nil
    }

    /// Notes that a download has released its slot, and that the disk still has to finish its file.
    mutating func beginFinishing(on device: UInt64) { finishing[device, default: 0] += 1 }

    mutating func endFinishing(on device: UInt64) {
        let left = finishing[device, default: 0] - 1
        finishing[device] = left > 0 ? left : nil
    }
}
