internal import Glibc
internal import Synchronization

/// A file descriptor that is closed when the last reference to this object ends.
public final class Descriptor: Sendable {
    public let number: Int32
    private let closesOnFork: Bool
    private let isClosed = Atomic(false)

    /// Takes the ownership of an open descriptor. `closesOnFork`: whether `ForkGuard` closes the copies in forked
    /// children.
    public init(owning number: Int32, closesOnFork: Bool = false) {
        self.number = number
        self.closesOnFork = closesOnFork
        if closesOnFork { ForkGuard.add(number) }
    }

    /// Writes all bytes at the offset in the file. A write that fills the disk succeeds, but writes only some of the
    /// bytes. The write of the rest then reports the error.
    public func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SystemError) {
        var (rest, end) = (bytes, off_t(offset))
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { pwrite(number, $0.baseAddress, $0.count, end) }
            guard count > 0 else { throw .last("cannot write") }
            rest = rest.dropFirst(count)
            end += off_t(count)
        }
    }

    /// Closes the descriptor now, before its last reference ends. A second call has no effect.
    public func close() {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        // The guard ends before the close, because another file may get the number after the close.
        if closesOnFork { ForkGuard.remove(number) }
        Glibc.close(number)
    }

    deinit { close() }
}
