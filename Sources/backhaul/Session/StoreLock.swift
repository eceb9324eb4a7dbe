import CLinux
import Glibc

/// The lock of a store, which the engine of the store owns.
enum StoreLock {
    /// Whether an engine owns the lock. If it does, the engine runs. The check does not take the lock.
    static func isHeld(in store: String) -> Bool {
        let number = bhl_open(Paths.join(store, "lock"), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard number >= 0 else { return false }
        defer { close(number) }
        return bhl_is_locked(number) != 0
    }
}
