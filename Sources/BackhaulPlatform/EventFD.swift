internal import CLinux
internal import Glibc

/// An eventfd. Its descriptor is readable from `set` until `clear`, for all threads that poll the descriptor.
public final class EventFD: Sendable {
    private let descriptor: Descriptor
    public var number: Int32 { descriptor.number }

    public init() throws(SystemError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError.last("cannot make an event descriptor") }
        descriptor = Descriptor(owning: number)
    }

    /// Fails if the process cannot open this many further descriptors.
    public static func checkDescriptors(_ count: Int) throws(SystemError) {
        var spare: [EventFD] = []
        for _ in 0..<count { spare.append(try EventFD()) }
    }

    /// Makes the descriptor readable or not readable.
    public func set(_ isSet: Bool) {
        if isSet { set() } else { clear() }
    }

    public func set() {
        var one: UInt64 = 1
        _ = write(descriptor.number, &one, 8)
    }

    public func clear() {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, 8)
    }
}
