internal import Synchronization

/// One value for each process. A forked child inherits its parent's value in the middle of whatever another thread was
/// doing with it, perhaps locked for ever; it leaves that value alone and makes its own.
public final class ProcessLocal<Value: AnyObject & Sendable>: Sendable {
    private final class Holder: Sendable {
        let process: ProcessStamp
        let value: Value
        init(process: ProcessStamp, value: Value) {
            self.process = process
            self.value = value
        }
    }

    private let make: @Sendable (_ inherited: Value?) -> Value
    /// 0 before the first use.
    private let address = Atomic<UInt>(0)

    /// `make` is given the parent's value in a forked child, of which it may read what needs no lock.
    public init(_ make: @escaping @Sendable (_ inherited: Value?) -> Value) { self.make = make }

    public var current: Value {
        let process = ProcessStamp.current
        while true {
            let known = address.load(ordering: .acquiring)
            // Unsafe: kept by its address, which stays valid because holders are never freed.
            let holder = UnsafeRawPointer(bitPattern: known).map {
                // Unsafe: as above.
                Unmanaged<Holder>.fromOpaque($0).takeUnretainedValue()
            }
            if let holder, holder.process == process { return holder.value }
            // Unsafe: never released once it is the current one.
            let fresh = Unmanaged.passRetained(Holder(process: process, value: make(holder?.value)))
            if address.compareExchange(
                expected: known, desired: UInt(bitPattern: fresh.toOpaque()), ordering: .acquiringAndReleasing
            ).exchanged {
                return fresh.takeUnretainedValue().value
            }
            fresh.release()
        }
    }
}
