internal import Synchronization

/// One value for each process. A forked child inherits its parent's value while another thread may be changing it,
/// perhaps with a lock that is never released. So the child does not use that value, and makes its own.
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

    /// In a forked child, `make` gets the parent's value, of which it may read only fields that need no lock.
    public init(_ make: @escaping @Sendable (_ inherited: Value?) -> Value) { self.make = make }

    public var current: Value {
        let process = ProcessStamp.current
        while true {
            let known = address.load(ordering: .acquiring)
            // Unsafe: identified by its address, which stays valid because current holders are never freed.
            let holder = UnsafeRawPointer(bitPattern: known).map {
                // Unsafe: as above.
                Unmanaged<Holder>.fromOpaque($0).takeUnretainedValue()
            }
            if let holder, holder.process == process { return holder.value }
            // Unsafe: never released after it has become the current one.
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
