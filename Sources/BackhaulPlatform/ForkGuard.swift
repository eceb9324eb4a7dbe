internal import CLinux
internal import Glibc

/// Closes the engine's descriptors in forked children. An open-file-description lock and a connected socket live as
/// long as any copy of their descriptor: without this, a forked child would hold the store of its dead parent.
public enum ForkGuard {
    private static let capacity = 4096

    // Unsafe: a child of a multi-threaded process may only make async-signal-safe calls, so it reads this plain table
    // without a lock; the parent writes single aligned words, under `lock`, which is each process's own.
    private nonisolated(unsafe) static let table: UnsafeMutablePointer<Int32> = {
        let table = UnsafeMutablePointer<Int32>.allocate(capacity: capacity)
        table.initialize(repeating: -1, count: capacity)
        pthread_atfork(nil, nil) { ForkGuard.closeAll() }
        return table
    }()

    // The value has a size, because ThreadSanitizer takes one without for the field that follows it.
    private static let lock = ProcessLocal { _ in Lock(false) }

    /// For descriptors that a library opened by itself; `Descriptor` does it for its own.
    public static func add(_ number: Int32) {
        lock.current.withLock { _ in
            for slot in 0..<capacity where table[slot] < 0 {
                table[slot] = number
                return
            }
        }
    }

    public static func remove(_ number: Int32) {
        lock.current.withLock { _ in
            for slot in 0..<capacity where table[slot] == number {
                table[slot] = -1
                return
            }
        }
    }

    private static func closeAll() {
        for slot in 0..<capacity where table[slot] >= 0 {
            close(table[slot])
            table[slot] = -1
        }
    }
}
