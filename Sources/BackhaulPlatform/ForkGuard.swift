internal import CLinux
internal import Glibc
internal import Synchronization

/// Closes descriptors in forked children. An open-file-description lock and a connected socket exist as long as any
/// copy of their descriptor is open. Without this guard, a forked child would keep the store locked after its parent
/// has died.
///
/// The guard uses no lock. In a child, a lock may be locked by a thread that does not exist there. And if fork had to
/// wait for a lock, a host that owns locks while it forks could deadlock.
public enum ForkGuard {
    // Linux allows a process 1,048,576 descriptors unless fs.nr_open was raised. Higher numbers are not guarded.
    private static let highestNumber: Int32 = (1 << 20) - 1
    private static let wordCount = (Int(highestNumber) + 1) / 64

    /// One bit for each descriptor number: whether the number is guarded.
    // Unsafe: the table is allocated once and never freed, and its elements are atomic. calloc fills it with zeros, as
    // `Atomic(0)` would.
    private nonisolated(unsafe) static let table: UnsafeMutablePointer<Atomic<UInt64>> =
        calloc(wordCount, 8)!.bindMemory(to: Atomic<UInt64>.self, capacity: wordCount)

    private static let isInstalled: Bool = {
        // The table must exist before the handler is registered. If a thread of the parent were making the table
        // during a fork, the handler in the child would wait for that thread for ever.
        _ = table
        return pthread_atfork(nil, nil) { ForkGuard.closeAll() } == 0
    }()

    /// Closes this descriptor in children that are forked from now on.
    public static func add(_ number: Int32) {
        guard isInstalled, (0...highestNumber).contains(number) else { return }
        table[Int(number / 64)].bitwiseOr(bit(number), ordering: .sequentiallyConsistent)
    }

    /// Ends the guard. The caller has not closed the descriptor yet: after the close, another file of the process may
    /// get its number.
    public static func remove(_ number: Int32) {
        guard (0...highestNumber).contains(number) else { return }
        table[Int(number / 64)].bitwiseAnd(~bit(number), ordering: .sequentiallyConsistent)
    }

    private static func bit(_ number: Int32) -> UInt64 { 1 << UInt64(number % 64) }

    /// Closes all guarded descriptors. This function runs in the child, where only async-signal-safe functions may be
    /// called (fork(2)).
    private static func closeAll() {
        for index in 0..<wordCount {
            var word = table[index].load(ordering: .relaxed)
            guard word != 0 else { continue }
            table[index].store(0, ordering: .relaxed)
            while word != 0 {
                close(Int32(index * 64 + word.trailingZeroBitCount))
                word &= word - 1
            }
        }
    }
}
