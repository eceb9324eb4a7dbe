internal import Glibc

/// Core dumps of the process. The daemon has none, because its memory contains credentials, and a core dump is a file
/// that other programs collect and send. A host decides for itself.
///
/// systemd-coredump(8) and apport obey the limit, too. Memory of Swift's strings cannot be excluded with
/// MADV_DONTDUMP, because each change of a string may copy it to another place on the heap.
public enum CoreDumps {
    /// The soft limit before `disable`; nil if it was not changed.
    private static let inherited = Lock<rlimit?>(nil)

    public static func disable() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, limit.rlim_cur != 0 else { return }
        inherited.withLock { $0 = limit }
        limit.rlim_cur = 0
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }

    /// The limit for a program that this process starts; nil if the program can inherit the limit.
    static var limitForPrograms: rlimit? { inherited.withLock { $0 } }
}
