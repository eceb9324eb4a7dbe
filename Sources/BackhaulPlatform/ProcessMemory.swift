internal import CLinux

/// Settings of malloc for Backhaul's own programs, such as the daemon. Programs that embed the library decide about
/// their own malloc.
public enum ProcessMemory {
    /// Limits malloc to two arenas (mallopt(3)). Call this function before the process starts a thread. Two shared
    /// arenas keep less free memory than an arena for each thread, and threads rarely allocate at the same time.
    public static func prepare() { bhl_limit_arenas(2) }

    /// Returns malloc's free memory to the system (malloc_trim(3)). Also returns the memory that contains the code of
    /// the program and its libraries. Most of this code is needed only while the process starts and loads its
    /// libraries.
    public static func trim() {
        bhl_trim()
        bhl_unmap_unused_code()
    }
}
