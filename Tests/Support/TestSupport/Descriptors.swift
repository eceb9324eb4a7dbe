import Glibc

/// The open descriptors of this process below 1024, without the standard streams.
public func openDescriptors() -> Set<Int32> { Set((3...1023).filter { fcntl($0, F_GETFD) >= 0 }) }

/// The descriptors of the test runner and of libdispatch, which were open before the test began. If a descriptor of
/// libdispatch is closed, libdispatch ends the process or waits for ever.
public struct InheritedDescriptors: Sendable {
    private let numbers: Set<Int32>

    public init() async {
        // libdispatch opens descriptors for each of its two clocks when it first waits on the clock.
        try? await Task.sleep(nanoseconds: 1)
        try? await Task.sleep(for: .nanoseconds(1))
        numbers = openDescriptors()
    }

    /// Closes all other descriptors below 1024, as some daemons do when they start.
    public func closeOthers() {
        for number in Int32(3)...1023 where !numbers.contains(number) { close(number) }
    }
}
