internal import CLinux
internal import Glibc
internal import Synchronization

/// Closes the library's descriptors in forked children. An open-file-description lock and a connected socket live as
/// long as any copy of their descriptor. Without this, a forked child would keep the store of its dead parent locked.
///
/// It uses no locks. In a child, a lock may be locked by a thread that the child does not have. And if fork waited for
/// a lock, a host that forks while it holds its own locks could deadlock.
public enum ForkGuard {
    /// The facts about one number. A child sees them as the parent's threads left them. So `registration` is cleared
    /// before the other fields change, and set after that.
    private struct Entry: ~Copyable {
        /// 0: the number is not one of ours.
        let registration = Atomic<UInt64>(0)
        let device = Atomic<UInt64>(0)
        let inode = Atomic<UInt64>(0)
        /// Makes the size a power of two, so that no entry is in two pages. Fork does not copy two pages at the same
        /// moment.
        let padding: UInt64 = 0

        var identity: FileIdentity {
            FileIdentity(device: device.load(ordering: .relaxed), inode: inode.load(ordering: .relaxed))
        }

        func set(_ identity: FileIdentity, _ newRegistration: UInt64) {
            registration.store(0, ordering: .sequentiallyConsistent)
            device.store(identity.device, ordering: .relaxed)
            inode.store(identity.inode, ordering: .relaxed)
            registration.store(newRegistration, ordering: .sequentiallyConsistent)
        }
    }

    /// The registration of all descriptors that libraries opened. No `Descriptor` gets it.
    private static let byLibrary: UInt64 = 1

    private typealias Chunk = UnsafeMutablePointer<Entry>

    private static let chunkSize: Int32 = 1_024
    // Linux allows a process 1,048,576 descriptors unless fs.nr_open was raised. Higher numbers are not guarded.
    private static let chunkCount: Int32 = 1_024

    // Unsafe: allocated once and never freed; the elements are atomic.
    private nonisolated(unsafe) static let chunks: UnsafeMutablePointer<Atomic<Chunk?>> = {
        let chunks = UnsafeMutablePointer<Atomic<Chunk?>>.allocate(capacity: Int(chunkCount))
        for index in 0..<Int(chunkCount) { (chunks + index).initialize(to: Atomic(nil)) }
        return chunks
    }()

    private static let registrations = Registrations()

    private final class Registrations: Sendable {
        let last = Atomic<UInt64>(ForkGuard.byLibrary)

        init() {
            // The table must exist before the handler runs: a child could wait for ever for a thread that was creating
            // it.
            _ = ForkGuard.chunks
            pthread_atfork(nil, nil) { ForkGuard.closeAll() }
        }
    }

    /// Registers a descriptor that a library opened. One that a `Descriptor` owns keeps its registration.
    public static func add(_ number: Int32) {
        _ = registrations
        guard let identity = FileIdentity(of: number), let entry = entry(number, making: true) else { return }
        let isKnown = entry.pointee.registration.load(ordering: .acquiring) != 0
        if isKnown, entry.pointee.identity == identity { return }
        entry.pointee.set(identity, byLibrary)
    }

    /// Undoes `add`.
    public static func remove(_ number: Int32) { remove(number, byLibrary) }

    /// Returns the registration for a `Descriptor`, or 0 when the number is too great. It ends an earlier registration
    /// of the number, whose file was closed by other code.
    static func register(_ number: Int32, _ identity: FileIdentity) -> UInt64 {
        let registration = registrations.last.add(1, ordering: .relaxed).newValue
        guard let entry = entry(number, making: true) else { return 0 }
        entry.pointee.set(identity, registration)
        return registration
    }

    /// Ends this registration of the number, but not a later one.
    static func remove(_ number: Int32, _ registration: UInt64) {
        _ = entry(number)?.pointee.registration.compareExchange(
            expected: registration, desired: 0, ordering: .acquiringAndReleasing)
    }

    /// False after the number was registered again, and in forked children.
    static func isCurrent(_ number: Int32, _ registration: UInt64) -> Bool {
        guard let entry = entry(number) else { return registration == 0 }
        return entry.pointee.registration.load(ordering: .acquiring) == registration
    }

    private static func entry(_ number: Int32, making: Bool = false) -> Chunk? {
        guard number >= 0, number / chunkSize < chunkCount else { return nil }
        let place = chunks + Int(number / chunkSize)
        if let chunk = place.pointee.load(ordering: .acquiring) { return chunk + Int(number % chunkSize) }
        guard making else { return nil }
        let size = Int(chunkSize) * MemoryLayout<Entry>.stride
        let made = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<Entry>.stride)
            .bindMemory(to: Entry.self, capacity: Int(chunkSize))
        for index in 0..<Int(chunkSize) { (made + index).initialize(to: Entry()) }
        let (isOurs, other) = place.pointee.compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if isOurs { return made + Int(number % chunkSize) }
        made.deallocate()
        return other.map { $0 + Int(number % chunkSize) }
    }

    /// Runs in the child, where only async-signal-safe functions may be called (fork(2)).
    private static func closeAll() {
        for index in 0..<chunkCount {
            guard let chunk = chunks[Int(index)].load(ordering: .acquiring) else { continue }
            for offset in 0..<chunkSize {
                let entry = chunk + Int(offset)
                guard entry.pointee.registration.exchange(0, ordering: .acquiringAndReleasing) != 0 else { continue }
                let number = index * chunkSize + offset
                // If the host has another file under the number, the child keeps it.
                if FileIdentity(of: number) == entry.pointee.identity { close(number) }
            }
        }
    }
}

/// The file to which a descriptor leads.
struct FileIdentity: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Nil for a closed descriptor.
    init?(of number: Int32) {
        var status = stat()
        guard fstat(number, &status) == 0 else { return nil }
        self.init(device: bhl_device(&status), inode: UInt64(status.st_ino))
    }

    /// The identity of a name's file, or of the link itself. Nil when there is no such name.
    init?(of name: String, in directory: Descriptor) {
        var status = stat()
        guard fstatat(directory.number, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return nil }
        self.init(device: bhl_device(&status), inode: UInt64(status.st_ino))
    }
}
