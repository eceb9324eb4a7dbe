internal import CLinux

/// Settings of malloc for Backhaul's own programs, such as the daemon. A host decides about its own malloc.
public enum ProcessMemory {
    /// Limits malloc to two arenas (mallopt(3)). Call this function before the process starts a thread. Two shared
    /// arenas keep less free memory than an arena for each thread, and threads rarely allocate at the same time.
    public static func prepare() { bhl_limit_arenas(2) }

    /// Returns malloc's free memory to the system (malloc_trim(3)).
    public static func trim() { bhl_trim() }
}
