import Glibc

/// The open descriptors of this process below 1024, without the standard streams.
public func openDescriptors() -> Set<Int32> { Set((3...1023).filter { fcntl($0, F_GETFD) >= 0 }) }

/// Calls the body while this process can open no file. The process's other threads cannot open files either.
public func withoutFreeDescriptors<Result>(_ body: () throws -> Result) rethrows -> Result {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let former = limit
    limit.rlim_cur = 0
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    defer { withUnsafePointer(to: former) { _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), $0) } }
    return try body()
}
