#if DEBUG
internal import BackhaulPlatform

/// The system calls that must fail in a test. They are needed because a test cannot make a real disk fail, for example
/// at the third sync.
final class FaultPlan: Sendable {
    private struct Fault {
        var operation: FileOperation
        var callsBefore: Int
        var code: Int32
    }

    private let faults = Lock<[Fault]>([])
    private let performed = Lock<[FileOperation]>([])

    /// Makes one call of this kind fail with this errno, after `callsBefore` successful calls.
    func fail(_ operation: FileOperation, after callsBefore: Int = 0, with code: Int32) {
        faults.withLock { $0.append(Fault(operation: operation, callsBefore: callsBefore, code: code)) }
    }

    /// The operations of all calls so far, in order.
    var operations: [FileOperation] { performed.withLock { $0 } }

    func next(_ operation: FileOperation) -> Int32? {
        performed.withLock { $0.append(operation) }
        return faults.withLock { faults -> Int32? in
            guard let index = faults.firstIndex(where: { $0.operation == operation }) else { return nil }
            if faults[index].callsBefore > 0 {
                faults[index].callsBefore -= 1
                return nil
            }
            return faults.remove(at: index).code
        }
    }
}
#endif
