internal import CLinux

/// The memory of a process that is the library's own, as a daemon's is. A host's malloc is the host's to set up.
public enum ProcessMemory {
    /// Before any thread exists. Threads that share two arenas leave less behind in each than eight with their own, and
    /// none of them allocates much at the same time as another (mallopt(3)).
    public static func prepare() { bhl_limit_arenas(2) }

    /// What malloc has free goes back to the system (malloc_trim(3)), and so does the code of libraries: most of it was
    /// needed when they were loaded, and never again.
    public static func giveBack() {
        bhl_trim()
        bhl_unmap_unused_code()
    }
}
