import Glibc

/// The open descriptors of this process below 1024, without the standard streams.
public func openDescriptors() -> Set<Int32> { Set((3...1023).filter { fcntl($0, F_GETFD) >= 0 }) }
