internal import CLinux
internal import Glibc
internal import Synchronization

/// A descriptor of inotify(7) that watches one path at a time.
///
/// In close(2) of such a descriptor, the kernel waits until it has freed the watches that all programs have removed
/// shortly before. This usually takes 5 to 25 ms, and much longer while a watched file system is being unmounted. So an
/// object of this type only removes its watch when it is freed. Its descriptor stays open, and the next object of the
/// process uses it.
public final class Inotify: Sendable {
    private static let spares = Lock<[Descriptor]>([])
    /// An engine has at most one descriptor for each of the store, the time zone and the bus, and 16 for missing
    /// directories. It frees the latter just after a change of the mounts, when a close may wait for an unmount.
    private static let spareLimit = 3 + 16

    private let descriptor: Descriptor
    private let watched = Atomic<Int32>(-1)

    /// The number of the descriptor, which is readable after a change.
    public var number: Int32 { descriptor.number }
    public var isWatching: Bool { watched.load(ordering: .relaxed) >= 0 }

    public init(_ messageStart: String) throws(SystemError) {
        if let spare = Self.spares.withLock({ $0.popLast() }) {
            descriptor = spare
            return
        }
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw SystemError.last(messageStart) }
        descriptor = Descriptor(owning: number)
    }

    deinit {
        stopWatching()
        // The reports of the removed watch must not reach the next object.
        takeNames()
        Self.spares.withLock { [descriptor] spares in
            if spares.count < Self.spareLimit { spares.append(descriptor) }
        }
    }

    /// Watches the path instead of the earlier one. Returns false if the path cannot be watched; errno has the reason.
    public func watch(_ path: String, for events: Int32) -> Bool {
        stopWatching()
        watched.store(inotify_add_watch(number, path, UInt32(events)), ordering: .relaxed)
        return isWatching
    }

    /// Reads the reports. Returns the names in the watched directory that they are about. The name is empty if a report
    /// has none.
    @discardableResult
    public func takeNames() -> [String] {
        var names: [String] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(number, &buffer, buffer.count)
            guard count > 0 else { return names }
            var rest = buffer[..<count]
            // struct inotify_event: watch, mask, cookie, size of the name, name with NULs (inotify(7)).
            while rest.count >= 16 {
                let size = rest.dropFirst(12).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
                names.append(String(decoding: rest.dropFirst(16).prefix(size).prefix { $0 != 0 }, as: UTF8.self))
                rest = rest.dropFirst(16 + size)
            }
        }
    }

    private func stopWatching() {
        let before = watched.exchange(-1, ordering: .relaxed)
        if before >= 0 { inotify_rm_watch(number, before) }
    }
}
