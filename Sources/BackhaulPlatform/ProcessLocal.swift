internal import Synchronization

/// One value for each process. During a fork, another thread may be changing the parent's value. In the child, this
/// value may then be inconsistent, or have a lock that no thread of the child can release. So the child does not use
/// the parent's value, and makes a new one.
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
    /// The address of the present `Holder`; 0 before the first use.
    private let address = Atomic<UInt>(0)

    /// `make` makes the value. In a forked child, `make` gets the parent's value, and may read only fields that need no
    /// lock.
    public init(_ make: @escaping @Sendable (_ inherited: Value?) -> Value) { self.make = make }

    public var current: Value {
        let process = ProcessStamp.current
        while true {
            let known = address.load(ordering: .acquiring)
            // Unsafe: the address stays valid, because a holder is never freed after its address was stored.
            let holder = UnsafeRawPointer(bitPattern: known).map {
                // Unsafe: the holder is never freed, as explained above.
                Unmanaged<Holder>.fromOpaque($0).takeUnretainedValue()
            }
            if let holder, holder.process == process { return holder.value }
            // Unsafe: the holder is not released after its address was stored.
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
