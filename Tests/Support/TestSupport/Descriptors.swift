import Glibc

/// Of this process, without the standard ones.
public func openDescriptors() -> Set<Int32> { Set((3...1023).filter { fcntl($0, F_GETFD) >= 0 }) }

/// The descriptors that were open before a test began with what it looks at: the runner's and libdispatch's, which ends
/// the process, or waits for ever, when one of its own is closed.
public struct InheritedDescriptors: Sendable {
    private let numbers: Set<Int32>

    public init() async {
        // libdispatch opens what it needs for each of its two clocks when it first keeps a time by it.
        try? await Task.sleep(nanoseconds: 1)
        try? await Task.sleep(for: .nanoseconds(1))
        numbers = openDescriptors()
    }

    /// Closes all others, as some daemons do when they start.
    public func closeOthers() {
        for number in Int32(3)...1023 where !numbers.contains(number) { close(number) }
    }
}
