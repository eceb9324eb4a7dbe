internal import CLinux

/// Settings of memory for processes that contain no host, such as a daemon. In a host, malloc belongs to the host.
public enum ProcessMemory {
    /// Limits malloc to two arenas (mallopt(3)). It must be called before any thread exists. Two shared arenas keep
    /// less free memory than an arena for each thread, and threads rarely allocate at the same time.
    public static func prepare() { bhl_limit_arenas(2) }

    /// Returns malloc's free memory to the system (malloc_trim(3)). Also returns the code of libraries, most of which
    /// was needed only while they were loaded.
    public static func trim() {
        bhl_trim()
        bhl_unmap_unused_code()
    }
}
