import Glibc

/// Raises the limits that the daemon (a process that runs transfers) inherits from the program that started it. These
/// limits were meant for that program only.
enum ProcessLimits {
    /// The wanted limit of descriptors. It is far above the number of connections and files that are open at the same
    /// time.
    private static let descriptors: rlim_t = 16_384

    /// Raises the limits as far as the system allows (getrlimit(2)).
    static func raise() {
        raise(RLIMIT_NOFILE, to: descriptors)
        for resource in [RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_AS] { raise(resource, to: .max) }
    }

    private static func raise(_ resource: __rlimit_resource, to wanted: rlim_t) {
        var limit = rlimit()
        let number = __rlimit_resource_t(resource.rawValue)
        guard getrlimit(number, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        setrlimit(number, &limit)
    }
}
