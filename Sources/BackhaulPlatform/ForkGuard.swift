internal import CLinux
internal import Glibc
internal import Synchronization

/// Closes the library's descriptors in forked children. An open-file-description lock and a connected socket exist as
/// long as any copy of their descriptor is open. Without this guard, a forked child would keep the library's directory
/// of data (the *store*) locked after its parent has died.
///
/// The guard uses no locks. In a child, a lock may be locked by a thread that does not exist there. And if fork had to
/// wait for a lock, a *host* (a program that embeds the library) that owns locks while it forks could deadlock.
public enum ForkGuard {
    /// The facts about one descriptor number. If a fork happens while a thread of the parent changes an entry, the
    /// child sees only a part of the change. So `registration` is cleared before the other fields change, and set after
    /// the change.
    private struct Entry: ~Copyable {
        /// Identifies one registration of the number; 0 if no descriptor of the library has the number.
        let registration = Atomic<UInt64>(0)
        let device = Atomic<UInt64>(0)
        let inode = Atomic<UInt64>(0)
        /// The padding makes the size a power of two, so that each entry is in one page. Fork copies pages one after
        /// the other, and an entry in two pages could change between the two copies.
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

    /// The common registration of all descriptors that other libraries opened. No `Descriptor` has this registration.
    private static let byLibrary: UInt64 = 1

    private typealias Chunk = UnsafeMutablePointer<Entry>

    private static let chunkSize: Int32 = 1_024
    // Linux allows a process 1,048,576 descriptors unless fs.nr_open was raised. Higher numbers are not guarded.
    private static let chunkCount: Int32 = 1_024

    // Unsafe: the table is allocated once and never freed, and its elements are atomic.
    private nonisolated(unsafe) static let chunks: UnsafeMutablePointer<Atomic<Chunk?>> = {
        let chunks = UnsafeMutablePointer<Atomic<Chunk?>>.allocate(capacity: Int(chunkCount))
        for index in 0..<Int(chunkCount) { (chunks + index).initialize(to: Atomic(nil)) }
        return chunks
    }()

    private static let registrations = Registrations()

    private final class Registrations: Sendable {
        let last = Atomic<UInt64>(ForkGuard.byLibrary)

        init() {
            // The table must exist before the handler is registered. If a thread of the parent were making the table
            // during a fork, the handler in the child would wait for that thread for ever.
            _ = ForkGuard.chunks
            pthread_atfork(nil, nil) { ForkGuard.closeAll() }
        }
    }

    /// Registers a descriptor that another library opened. If a `Descriptor` has registered the same file with this
    /// number, that registration stays.
    public static func add(_ number: Int32) {
        _ = registrations
        guard let identity = FileIdentity(of: number), let entry = entry(number, making: true) else { return }
        let isKnown = entry.pointee.registration.load(ordering: .acquiring) != 0
        if isKnown, entry.pointee.identity == identity { return }
        entry.pointee.set(identity, byLibrary)
    }

    /// Removes a registration that `add` made.
    public static func remove(_ number: Int32) { remove(number, byLibrary) }

    /// Registers the descriptor of a `Descriptor` object. Returns the registration, or 0 if the number is too great. If
    /// the number has an earlier registration, the new one replaces it: other code has closed the earlier file.
    static func register(_ number: Int32, _ identity: FileIdentity) -> UInt64 {
        let registration = registrations.last.add(1, ordering: .relaxed).newValue
        guard let entry = entry(number, making: true) else { return 0 }
        entry.pointee.set(identity, registration)
        return registration
    }

    /// Removes this registration of the number. A later registration stays.
    static func remove(_ number: Int32, _ registration: UInt64) {
        _ = entry(number)?.pointee.registration.compareExchange(
            expected: registration, desired: 0, ordering: .acquiringAndReleasing)
    }

    /// Whether the number still has this registration. False after the number was registered again, and in forked
    /// children.
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

    /// Closes all registered descriptors. This function runs in the child, where only async-signal-safe functions may
    /// be called (fork(2)).
    private static func closeAll() {
        for index in 0..<chunkCount {
            guard let chunk = chunks[Int(index)].load(ordering: .acquiring) else { continue }
            for offset in 0..<chunkSize {
                let entry = chunk + Int(offset)
                guard entry.pointee.registration.exchange(0, ordering: .acquiringAndReleasing) != 0 else { continue }
                let number = index * chunkSize + offset
                // If the number belongs to another file of the host, the child keeps that file open.
                if FileIdentity(of: number) == entry.pointee.identity { close(number) }
            }
        }
    }
}

/// The identity of the file to which a descriptor refers.
struct FileIdentity: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Returns nil for a closed descriptor.
    init?(of number: Int32) {
        var status = stat()
        guard fstat(number, &status) == 0 else { return nil }
        self.init(device: bhl_device(&status), inode: UInt64(status.st_ino))
    }

    /// The identity of the file with this name in a directory. For a symbolic link, it is the identity of the link
    /// itself. Nil if the name does not exist.
    init?(of name: String, in directory: Descriptor) {
        var status = stat()
        guard fstatat(directory.number, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return nil }
        self.init(device: bhl_device(&status), inode: UInt64(status.st_ino))
    }
}
