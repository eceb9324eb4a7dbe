internal import CLinux

/// Settings of a process's memory, for processes that are only ours, such as a daemon. In a host, malloc belongs to the
/// host.
public enum ProcessMemory {
    /// Limits malloc to two arenas; call it before any thread exists. Threads that share two arenas keep less free
    /// memory than eight with their own, and they rarely allocate at the same time (mallopt(3)).
    public static func prepare() { bhl_limit_arenas(2) }

    /// Returns malloc's free memory to the system (malloc_trim(3)), and the code of libraries: most of it was needed
    /// only while they were loaded.
    public static func trim() {
        bhl_trim()
        bhl_unmap_unused_code()
    }
}
